/** A whole service with its ways in, and its callers: keys, an assistant, people on the page, the shell. */

import type { Hono } from 'hono';
import { localActor } from '../../src/cli/local-actor.js';
import { decideApproval } from '../../src/domain/approvals/approvals.js';
import { type RulesChange, setApprovalRules } from '../../src/domain/approvals/rules.js';
import type { UserRight } from '../../src/store/access/users.js';
import type { HttpEnv } from '../../src/surfaces/http/request-info.js';
import { cheapHash } from '../support/cheap-hash.js';
import type { TestOptions } from '../support/harness.js';
import { newKey } from '../support/logins.js';
import { connect, type Driver, type McpApp, mcpApp } from '../support/mcp-clients.js';

const URL_ = 'http://127.0.0.1:8787';
export const PASSWORD = 'correct horse';
export const SHELL = localActor('cli');

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers field by field
export type Reply = { status: number; body: any };
export type Ask = (call: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>;

export interface Ways extends McpApp {
  /** A key, as a caller of `/v2`; the token is `ask.token`. */
  key(rights?: { scope?: 'read' | 'write' | 'read_write'; approves?: boolean }): Promise<Ask & { token: string }>;
  withToken(token: string): Ask;
  user(rights: UserRight[]): Promise<string>;
  /** A person who is logged in on the page. */
  page(name: string): Promise<Ask>;
  /** Runs an operation over the run endpoint. */
  run(name: string, operation: string, input: object): Promise<Reply>;
  assistant(token?: string): Promise<Driver>;
  rules(change: RulesChange): Promise<void>;
  /** Decides in the shell. */
  shell: {
    approve(id: string): Promise<unknown>;
    refuse(id: string, note?: string): Promise<unknown>;
  };
}

export async function ways(options: TestOptions & { connected?: number } = {}): Promise<Ways> {
  const mcp = await mcpApp({ realClock: false, ...options });
  const { app } = mcp;
  const { service } = app;
  const http: Hono<HttpEnv> = await service.http();
  let made = 0;

  async function send(call: string, body: unknown, headers: Record<string, string>): Promise<Reply> {
    const [method = '', path = ''] = call.split(' ');
    const reply = await http.request(`${URL_}${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    return { status: reply.status, body: text.startsWith('{') ? JSON.parse(text) : text };
  }
  const shell = () => app.ctx({ actor: SHELL });

  const withToken =
    (token: string): Ask =>
    (call, body, headers = {}) =>
      send(call.replace(' ', ' /v2'), body, { Authorization: `Bearer ${token}`, ...headers });

  return Object.assign(Object.create(mcp) as McpApp, {
    withToken,
    async key({ scope = 'read_write', approves = false }: Parameters<Ways['key']>[0] = {}) {
      const { token } = await newKey(service.store.keys, { scope, approves, description: `key ${++made}` });
      return Object.assign(withToken(token), { token });
    },
    async user(rights: UserRight[]) {
      const name = `user-${++made}`;
      const password_hash = cheapHash(PASSWORD);
      await service.store.users.add({ name, password_hash, rights, now: app.clock.now() });
      return name;
    },
    async page(name: string) {
      const now = app.clock.now();
      const link = await service.store.loginLinks.add(name, now, now + 60_000);
      const reply = await http.request(`${URL_}/session`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ link }),
      });
      const { csrf } = (await reply.json()) as { csrf: string };
      const cookie = reply.headers.get('set-cookie')?.split(';')[0] ?? '';
      const own = { Cookie: cookie, Origin: URL_, 'X-Sitefleet-CSRF': csrf };
      return (call: string, body?: unknown, headers = {}) =>
        send(call.replace(' ', ' /v2'), body, { ...own, ...headers });
    },
    async run(name: string, operation: string, input: object) {
      const Authorization = `Basic ${Buffer.from(`${name}:${PASSWORD}`).toString('base64')}`;
      return send(`POST /abilities/svc/${operation}-v1/run`, { input }, { Authorization });
    },
    assistant: (token?: string) =>
      connect(['2025-11-25', 'http'], {
        ...mcp.target,
        url: `${mcp.url}?toolsets=default,guard,approvals`,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      }),
    async rules(change: RulesChange) {
      await setApprovalRules(shell(), change);
    },
    shell: {
      approve: (id: string) => decideApproval(shell(), id, 'approved', ''),
      refuse: (id: string, note = '') => decideApproval(shell(), id, 'refused', note),
    },
  });
}
