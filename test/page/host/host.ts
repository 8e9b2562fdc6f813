/** A host of MCP Apps in a browser page: the official client and bridge, and a frame that may load nothing. */

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { AppBridge, getToolUiResourceUri, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';

// The policy that hosts apply to a view which declares no domains.
const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

interface Shown {
  tool: string;
  args: Record<string, unknown>;
  token: string;
  theme: 'light' | 'dark';
}

/** Of the view that is shown. Each holds a stream open, and a browser opens only six to a server. */
let shown: Client | undefined;

/** Calls a tool as an assistant would, and shows its view. */
async function show({ tool: name, args, token, theme }: Shown): Promise<void> {
  await shown?.close();
  const client = new Client(
    { name: 'host', version: '1' },
    { capabilities: { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } } } },
  );
  shown = client;
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp?toolsets=default,monitoring,rollouts', location.href), {
      requestInit: { headers },
    }),
  );
  const { tools } = await client.listTools();
  const tool = tools.find((one) => one.name === name);
  const uri = tool === undefined ? undefined : getToolUiResourceUri(tool);
  if (uri === undefined) throw new Error(`${name} has no view`);
  const { contents } = await client.readResource({ uri });
  const html = String((contents[0] as { text?: string }).text);
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.style.cssText = 'width: 100%; height: 200px; border: 0';
  document.body.replaceChildren(frame);
  const bridge = new AppBridge(
    client,
    { name: 'host', version: '1' },
    { serverTools: {}, serverResources: {}, logging: {} },
    { hostContext: { theme } },
  );
  bridge.onsizechange = ({ height }) => {
    if (height !== undefined) frame.style.height = `${height}px`;
  };
  bridge.oninitialized = async () => {
    await bridge.sendToolInput({ arguments: args });
    await bridge.sendToolResult((await client.callTool({ name, arguments: args })) as never);
  };
  const view = frame.contentWindow as Window;
  await bridge.connect(new PostMessageTransport(view, view));
  frame.srcdoc = html.replace('<head>', `<head><meta http-equiv="content-security-policy" content="${POLICY}">`);
}

Object.assign(window, { show });
