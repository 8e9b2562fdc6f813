/**
 * Answers of `tools/list` kept as text. The list is long and the same for the whole life of the process, and most of what it
 * costs is checking, copying and writing it out anew. An answer is used again only for a request that is the same in
 * everything that is looked at, so whatever the SDK would refuse is still refused by the SDK.
 */

export interface ListRequest {
  id: string | number;
  /** Everything of the request that may matter to its answer, but for the id. */
  key: string;
}

/** Requests remembered at once; clients of one kind send the same one. */
const MAX_KEPT = 32;
const MAX_KEY = 2_000;
const END = Buffer.from('}\n');
const MEMBERS = new Set(['jsonrpc', 'id', 'method', 'params']);

/** A message that asks for the whole list and nothing else; undefined for any other. */
export function listRequest(message: unknown): ListRequest | undefined {
  if (!isRecord(message) || message.jsonrpc !== '2.0' || message.method !== 'tools/list') return undefined;
  const { id, params = {} } = message;
  const named = typeof id === 'string' || Number.isSafeInteger(id);
  if (!named || !isRecord(params) || Object.keys(message).some((name) => !MEMBERS.has(name))) return undefined;
  const { _meta: meta = {}, ...others } = params;
  if (!isRecord(meta) || Object.keys(others).length > 0 || 'progressToken' in meta) return undefined;
  const key = JSON.stringify([params._meta === undefined, meta]);
  return key.length > MAX_KEY ? undefined : { id: id as string | number, key };
}

/** Clients count their requests and ask for the list among the first: those messages are kept whole. */
const FIRST_IDS = 10;
const MAX_MESSAGES = 16;

/** Results as JSON, by request; as bytes, because nothing has to look at them again. */
export class Listed {
  readonly #results = new Map<string, Buffer>();
  /** Whole messages, by id and request. */
  readonly #messages = new Map<string, Uint8Array<ArrayBuffer>>();

  /** The whole message that answers the request, when an equal one was answered before. */
  answer({ id, key }: ListRequest): Uint8Array<ArrayBuffer> | undefined {
    const result = this.#results.get(key);
    if (result === undefined) return undefined;
    if (typeof id !== 'number' || id < 0 || id >= FIRST_IDS) return messageOf(id, result);
    const name = `${id} ${key}`;
    const known = this.#messages.get(name);
    if (known !== undefined) return known;
    const oldest = this.#messages.size >= MAX_MESSAGES ? this.#messages.keys().next().value : undefined;
    if (oldest !== undefined) this.#messages.delete(oldest);
    const message = messageOf(id, result);
    this.#messages.set(name, message);
    return message;
  }

  keep({ key }: ListRequest, result: unknown): void {
    if (this.#results.size >= MAX_KEPT) this.#results.clear();
    this.#messages.clear();
    this.#results.set(key, Buffer.from(JSON.stringify(result)));
  }
}

function messageOf(id: string | number, result: Buffer): Uint8Array<ArrayBuffer> {
  return Buffer.concat([Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`), result, END]);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
