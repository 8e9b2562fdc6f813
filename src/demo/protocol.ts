import { type Call, ChildError, Crash, crashPage, framed, page } from './answer.js';
import { authenticate, clean } from './auth.js';
import { advanceCron } from './functions/abandoned.js';
import { FUNCTIONS, READS, UPDATES } from './functions/index.js';
import { beginUpdates } from './guard/state.js';
import type { Answer } from './http-answer.js';
import { list, type Params, text } from './params.js';
import { probe, register } from './register.js';
import { logIn } from './sessions.js';
import type { DemoSite } from './site.js';

export interface ProtocolRequest {
  /** Form fields of a POST; empty for everything else. */
  params: Params;
  query: Params;
  tls: boolean;
  /** False leaves out the arithmetic of signatures, for benchmarks of the client side. */
  verify: boolean;
  /** The `Cookie` header. */
  cookie?: string | undefined;
}

/** Answers a POST that names a function: unsigned probing, registering, or a signed call (child protocol §2, §3). */
export function answerCall(site: DemoSite, request: ProtocolRequest): Answer {
  const name = clean(text(request.params, 'function'));
  try {
    if (name === 'register') return framed(site, register(callOf(site, request)));
    if (name === 'stats' && request.params.mainwpsignature === undefined) {
      return framed(site, probe(site));
    }
    return signedCall(site, request, name);
  } catch (error) {
    if (error instanceof Crash) return crashPage();
    if (!(error instanceof ChildError)) throw error;
    return framed(site, { error: error.message, ...(error.code === undefined ? {} : { error_code: error.code }) });
  }
}

function signedCall(site: DemoSite, request: ProtocolRequest, name: string): Answer {
  const user = authenticate(site, request.params, request.query, request.verify);
  const run = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  if (run === undefined) throw ChildError.of(site, 'incompatible', 'child_plugin_incompatible');
  if (!READS.has(name)) site.touch();
  advanceCron(site);
  const call = { ...callOf(site, request), user };
  if (UPDATES.has(name) && site.faults.gatewayTimeout !== undefined) return gatewayGivesUp(call, () => run(call));
  const cookies = user === undefined ? [] : logIn(site, user, request.cookie ?? '', call.now);
  const answer = framed(site, run(call), cookies.length === 0 ? {} : { 'set-cookie': cookies });
  if (!UPDATES.has(name)) return answer;
  leaveMaintenance(site);
  return site.faults.dieMidUpdate ? { ...answer, drop: true } : answer;
}

function leaveMaintenance({ faults }: DemoSite): void {
  if (faults.maintenanceAfterUpdate !== undefined) faults.maintenance = faults.maintenanceAfterUpdate;
}

/** The gateway in front answers while PHP is still at work. */
function gatewayGivesUp({ site, params }: Call, work: () => unknown): Answer {
  const { gatewayTimeout } = site.faults;
  if (typeof gatewayTimeout === 'number') {
    const ended = beginUpdates(site, text(params, 'type') === 'theme' ? 'theme' : 'plugin', list(params, 'list', ','));
    site.afterRequests(gatewayTimeout, () => {
      work();
      ended();
    });
  } else work();
  leaveMaintenance(site);
  return page(504, '<html><body><h1>504 Gateway Time-out</h1></body></html>');
}

function callOf(site: DemoSite, request: ProtocolRequest): Call {
  return {
    site,
    state: site.inner,
    params: request.params,
    user: undefined,
    now: Math.floor(site.now() / 1000),
    tls: request.tls,
  };
}
