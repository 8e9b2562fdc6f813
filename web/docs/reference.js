/** The reference of the interface: Swagger UI over our own description; "Try it out" uses the session of the page. */

import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import './reference.css';

const dark = matchMedia('(prefers-color-scheme: dark)');
const applyTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', applyTheme);
applyTheme();

/** The session of this browser. The CSRF token that writes need changes from time to time. */
async function session() {
  const reply = await fetch('session', { headers: { accept: 'application/json' } });
  return reply.ok ? reply.json() : { authenticated: false };
}

async function showSession() {
  const place = document.getElementById('session');
  const { authenticated, user } = await session().catch(() => ({ authenticated: false }));
  if (authenticated) {
    place.textContent = `Logged in as ${user.name}: calls below /v2 that you try out use this login (${user.right}). Operations want a user and a password: Authorize.`;
    return;
  }
  const link = Object.assign(document.createElement('a'), { href: 'login', textContent: 'Log in' });
  place.replaceChildren(link, ', or authorize with an API key or a password, to try calls out.');
}

const READS = new Set(['GET', 'HEAD']);

/** Adds the CSRF token to writes that use the session. */
async function withSession(request) {
  const method = (request.method ?? 'GET').toUpperCase();
  const headers = request.headers ?? {};
  if (request.loadSpec || READS.has(method) || headers.Authorization !== undefined) return request;
  const { csrf } = await session().catch(() => ({}));
  if (csrf !== undefined) request.headers = { ...headers, 'X-Sitefleet-CSRF': csrf };
  return request;
}

SwaggerUI({
  url: 'docs/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  validatorUrl: null,
  requestInterceptor: withSession,
});
showSession();
