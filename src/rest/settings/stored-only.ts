/** What the message of a changed setting says about fields that are kept and change nothing here. */

const NO_BACKUP =
  'WARNING: no backup is made before updates, and none is asked for. backup_before_upgrade protects nothing here: make backups by other means.';

/**
 * `message`, and which of the fields sent are stored only.
 * @param sent the fields as they were parsed; @param notes by field, why it changes nothing
 */
export function changedMessage(
  message: string,
  sent: Readonly<Record<string, unknown>>,
  notes: Readonly<Record<string, string>>,
): string {
  const idle = Object.keys(notes).filter((name) => sent[name] !== undefined);
  if (idle.length === 0) return message;
  const text = `${message} Stored only, without any effect here: ${idle.join(', ')} (meta.notes has the reasons).`;
  return idle.includes('backup_before_upgrade') && sent.backup_before_upgrade ? `${text} ${NO_BACKUP}` : text;
}
