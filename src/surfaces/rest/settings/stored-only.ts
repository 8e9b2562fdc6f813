/** The part of a change message about settings that are stored but have no effect here. */

/**
 * Appends to `message` which of the sent fields are stored only.
 * @param sent the parsed fields; @param notes by field, the reason why it has no effect
 */
export function changedMessage(
  message: string,
  sent: Readonly<Record<string, unknown>>,
  notes: Readonly<Record<string, string>>,
): string {
  const idle = Object.keys(notes).filter((name) => sent[name] !== undefined);
  if (idle.length === 0) return message;
  return `${message} Stored only, with no effect here: ${idle.join(', ')} (meta.notes has the reasons).`;
}
