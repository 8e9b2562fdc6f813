/** Whether a run kept an update though its site may have a problem since: something was found, or the update left it inactive. */
export function isSuspect({
  state,
  code,
  evidence = [],
}: {
  state: string;
  code?: string | undefined;
  evidence?: readonly string[] | undefined;
}): boolean {
  return state === 'kept' && (code !== undefined || evidence.length > 0);
}
