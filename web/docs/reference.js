/** The reference of the interface: Swagger UI over our own description; "Try it out" uses the session of the page. */

import './reference.css';
import { createSearch } from './search.js';

const dark = matchMedia('(prefers-color-scheme: dark)');

/** Light or dark as chosen on the page, else as the system has it. */
function applyTheme() {
  let chosen = null;
  try {
    chosen = localStorage.getItem('theme');
  } catch {
    // Storage is refused.
  }
  const isDark = chosen === 'dark' || (chosen !== 'light' && dark.matches);
  document.documentElement.classList.toggle('dark-mode', isDark);
}
dark.addEventListener('change', applyTheme);
// It was chosen in another tab.
addEventListener('storage', applyTheme);
applyTheme();

/** The session of this browser, with the CSRF token that writes need: the page of the login keeps it. */
async function session() {
  const headers = { accept: 'application/json', 'X-Sitefleet-CSRF': localStorage.getItem('csrf') ?? '' };
  const reply = await fetch('session', { headers });
  const found = reply.ok ? await reply.json() : {};
  return found.csrf === undefined ? { authenticated: false } : found;
}

async function showSession() {
  const place = document.getElementById('session');
  const { authenticated, user } = await session().catch(() => ({ authenticated: false }));
  if (authenticated) {
    place.textContent = `Logged in as ${user.name}: calls below /v2 that you try out use this login (${user.right}). Operations need a user and a password: choose Authorize.`;
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

/** What a screen reader needs and Swagger UI lacks: landmarks, the heading above those of the groups, and names of its lists. */
const forScreenReaders = ({ React: { createElement, createContext, useContext } }) => {
  const Name = createContext('');
  const inRegion = (label) => (Part) => (props) =>
    createElement('section', { 'aria-label': label }, createElement(Part, props));
  return {
    wrapComponents: {
      InfoContainer: inRegion('About this interface'),
      SchemesContainer: inRegion('Authorization'),
      operations: (Part) => (props) => [
        createElement('h2', { key: 'heading', className: 'unseen' }, 'Calls'),
        createElement(Part, { ...props, key: 'calls' }),
      ],
      parameterRow: (Part) => (props) =>
        createElement(Name.Provider, { value: props.rawParam.get('name') }, createElement(Part, props)),
      Select: (Part) => (props) => {
        const name = useContext(Name);
        const select = createElement(Part, props);
        return name === ''
          ? select
          : createElement('label', null, createElement('span', { className: 'unseen' }, name), select);
      },
    },
  };
};

/** From the script of Swagger UI, which the page loads first. */
const ui = window.SwaggerUIBundle({
  url: 'docs/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  validatorUrl: null,
  requestInterceptor: withSession,
  plugins: [forScreenReaders],
  onComplete: () => createSearch(ui.getSystem()),
});
showSession();
