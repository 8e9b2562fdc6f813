/** A client of Chromium's debugging interface (DevTools protocol), as far as pictures need it. */

import { Agent, request, WebSocket } from 'undici';

export type Fields = Record<string, unknown>;
type Listener = (event: Fields) => void;

/** Far above a picture. Messages hold what a page says and asks for: a longer one would stop the process while it is read. */
const LARGEST = 8 * 1024 * 1024;

interface Message {
  id?: number;
  method?: string;
  params?: Fields;
  result?: Fields;
  error?: { message?: string };
  sessionId?: string;
}

/** One connection to a browser; calls go to the browser itself, or to a tab by its session. */
export class DevTools {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, { resolve: (result: Fields) => void; reject: (error: Error) => void }>();
  readonly #listeners = new Map<string, Listener>();
  #last = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#read(String(data)));
    socket.addEventListener('close', () => this.#end());
    socket.addEventListener('error', () => this.#end());
  }

  /** Connects to the browser that listens on this port of loopback. */
  static async connect(port: number, signal: AbortSignal): Promise<DevTools> {
    const { body } = await request(`http://127.0.0.1:${port}/json/version`, { signal });
    const { webSocketDebuggerUrl } = (await body.json()) as { webSocketDebuggerUrl: string };
    const socket = new WebSocket(webSocketDebuggerUrl, {
      dispatcher: new Agent({ webSocket: { maxPayloadSize: LARGEST } }),
    });
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve(), { once: true });
      socket.addEventListener('error', () => reject(new Error('The browser refused a connection.')), { once: true });
      signal.addEventListener('abort', () => socket.close(), { once: true });
    });
    return new DevTools(socket);
  }

  /** Calls a method. Rejects when the browser refuses it or is gone. */
  send(method: string, params: Fields = {}, session?: string): Promise<Fields> {
    if (this.#socket.readyState !== WebSocket.OPEN) return Promise.reject(gone());
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.send(
        JSON.stringify({ id, method, params, ...(session === undefined ? {} : { sessionId: session }) }),
      );
    });
  }

  /** Has the events of a session, by method; one listener for each. */
  on(session: string, method: string, listener: Listener): void {
    this.#listeners.set(`${session} ${method}`, listener);
  }

  /** Forgets the listeners of a session. */
  forget(session: string): void {
    for (const key of this.#listeners.keys()) if (key.startsWith(`${session} `)) this.#listeners.delete(key);
  }

  close(): void {
    this.#socket.close();
    this.#end();
  }

  #read(text: string): void {
    const { id, method, params = {}, result = {}, error, sessionId = '' } = JSON.parse(text) as Message;
    if (method !== undefined) {
      this.#listeners.get(`${sessionId} ${method}`)?.(params);
      return;
    }
    const call = this.#waiting.get(id ?? 0);
    this.#waiting.delete(id ?? 0);
    if (error === undefined) call?.resolve(result);
    else call?.reject(new Error(String(error.message)));
  }

  #end(): void {
    for (const { reject } of this.#waiting.values()) reject(gone());
    this.#waiting.clear();
  }
}

function gone(): Error {
  return new Error('The browser is gone.');
}
