/**
 * The view's side of MCP Apps (protocol 2026-01-26): JSON-RPC with the host over postMessage. Implemented here because
 * the protocol's SDK would make each view ten times as large; `test/page/apps.test.ts` runs it against that SDK's host.
 */

const PROTOCOL = '2026-01-26';

export interface ToolResult {
  content?: { type: string; text?: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}

/** A file of a resource. */
export interface ResourceFile {
  /** In base64. */
  blob: string;
  /** What a picture shows. */
  _meta?: { page: string; device: 'desktop' | 'phone'; taken: 'before' | 'after' };
}

interface HostContext {
  theme?: 'light' | 'dark';
  locale?: string;
  timeZone?: string;
  styles?: { variables?: Record<string, string | undefined> };
}

interface Message {
  jsonrpc: '2.0';
  id?: number | string;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { code: number; message: string };
}

export interface Host {
  /** Theme, styles and language of the host. */
  readonly context: HostContext;
  /** False where the host does not forward calls: then no buttons are shown. */
  readonly canCall: boolean;
  /**
   * Calls one of our tools. The host and the server ask for their own confirmation. Rejects when the call could not be
   * made.
   */
  call(name: string, args: Record<string, unknown>): Promise<ToolResult>;
  /** False where the host does not read our resources. */
  readonly canRead: boolean;
  /** The files of one of our resources. Rejects when it could not be read. */
  read(uri: string): Promise<ResourceFile[]>;
}

export interface Events {
  /** The arguments of the tool call. */
  input(args: Record<string, unknown>): void;
  result(result: ToolResult): void;
  cancelled(reason: string): void;
}

/** Performs the handshake with the host; from then on reports the events it sends. */
export async function connect(name: string, events: Events): Promise<Host> {
  const waiting = new Map<number, { done(value: unknown): void; failed(error: Error): void }>();
  let last = 0;
  const post = (message: Omit<Message, 'jsonrpc'>) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
  const ask = (method: string, params: Record<string, unknown>) =>
    new Promise<unknown>((done, failed) => {
      last += 1;
      waiting.set(last, { done, failed });
      post({ id: last, method, params });
    });
  const context: HostContext = {};

  function take(message: Message): void {
    if (message.method === undefined) {
      const call = waiting.get(Number(message.id));
      waiting.delete(Number(message.id));
      if (message.error === undefined) call?.done(message.result);
      else call?.failed(new Error(message.error.message));
      return;
    }
    const params = message.params ?? {};
    if (message.method === 'ui/notifications/tool-input')
      events.input((params.arguments as Record<string, unknown> | undefined) ?? {});
    else if (message.method === 'ui/notifications/tool-result') events.result(params as ToolResult);
    else if (message.method === 'ui/notifications/tool-cancelled') events.cancelled(String(params.reason ?? ''));
    else if (message.method === 'ui/notifications/host-context-changed') follow(context, params as HostContext);
    // Teardown and ping requests: there is no state to save.
    else if (message.id !== undefined && ['ui/resource-teardown', 'ping'].includes(message.method))
      post({ id: message.id, result: {} });
    else if (message.id !== undefined)
      post({ id: message.id, error: { code: -32601, message: `There is no ${message.method} here.` } });
  }

  addEventListener('message', ({ source, data }: MessageEvent<Message>) => {
    if (source === parent && data?.jsonrpc === '2.0') take(data);
  });
  const greeting = (await ask('ui/initialize', {
    protocolVersion: PROTOCOL,
    appInfo: { name, version: '1.0.0' },
    appCapabilities: { availableDisplayModes: ['inline'] },
  })) as { hostCapabilities?: { serverTools?: object; serverResources?: object }; hostContext?: HostContext };
  follow(context, greeting.hostContext ?? {});
  post({ method: 'ui/notifications/initialized', params: {} });
  watchSize(post);
  return {
    context,
    canCall: greeting.hostCapabilities?.serverTools !== undefined,
    call: async (tool, args) => (await ask('tools/call', { name: tool, arguments: args })) as ToolResult,
    canRead: greeting.hostCapabilities?.serverResources !== undefined,
    read: async (uri) => ((await ask('resources/read', { uri })) as { contents: ResourceFile[] }).contents,
  };
}

/** Applies the host's light or dark theme and its fonts. Colours stay ours: they carry meaning. */
function follow(context: HostContext, change: HostContext): void {
  Object.assign(context, change);
  const { theme, styles, locale } = context;
  const root = document.documentElement;
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  if (locale !== undefined) root.lang = locale;
  const font = styles?.variables?.['--font-sans'];
  if (font !== undefined) root.style.fontFamily = font;
}

/** The host sets the height of the frame to that of the content. */
function watchSize(post: (message: Omit<Message, 'jsonrpc'>) => void): void {
  let sent = 0;
  const sendSize = () => {
    const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    if (height === sent) return;
    sent = height;
    post({ method: 'ui/notifications/size-changed', params: { height } });
  };
  new ResizeObserver(sendSize).observe(document.documentElement);
  sendSize();
}
