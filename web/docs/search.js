/** Search of the reference: what fits is listed, and a hit opens, with its section, and is brought into view. */

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
/** Hits that are listed. */
const MOST = 20;

/** @param system of Swagger UI, with the description loaded */
export function createSearch(system) {
  const entries = entriesOf(system.specSelectors.specJson().toJS());
  const field = document.getElementById('search');
  const list = document.getElementById('hits');
  const status = document.getElementById('found');
  let hits = [];
  const show = () => {
    const words = wordsOf(field.value);
    const found = words.length === 0 ? [] : entries.filter(({ text }) => words.every((word) => text.includes(word)));
    hits = found.slice(0, MOST);
    list.replaceChildren(...hits.map((hit) => item(hit, () => open(system, hit))));
    status.textContent = words.length === 0 ? '' : countOf(found.length);
  };
  field.addEventListener('input', show);
  field.form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (hits[0] !== undefined) open(system, hits[0]);
  });
  field.form.hidden = false;
}

const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

function countOf(found) {
  if (found === 0) return 'Nothing found';
  return found > MOST ? `The first ${MOST} of ${found}` : `${found} found`;
}

function entriesOf({ paths }) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => method in methods).map((method) => {
      const { operationId, summary = '', tags = [] } = methods[method];
      const text = [method, path, operationId, summary, tags[0]].join(' ').toLowerCase();
      return { method, path, id: operationId, tag: tags[0], summary, text };
    }),
  );
}

function item({ method, path, id, summary }, go) {
  const button = Object.assign(document.createElement('button'), { type: 'button' });
  const called = path.startsWith('/v2/') ? `${method.toUpperCase()} ${path}` : id;
  button.append(
    Object.assign(document.createElement('code'), { textContent: called }),
    Object.assign(document.createElement('span'), { textContent: summary }),
  );
  button.addEventListener('click', go);
  const line = document.createElement('li');
  line.append(button);
  return line;
}

/** Unfolds the entry and its section, and goes there once it is drawn. */
function open({ layoutActions }, { method, path, tag, id }) {
  layoutActions.show(['operations-tag', tag], true);
  layoutActions.show(['operations', tag, id], true);
  const shown = () => {
    const entry = document.querySelector(`.opblock-${method} [data-path="${CSS.escape(path)}"]`)?.closest('.opblock');
    if (entry === undefined || entry === null) return false;
    entry.scrollIntoView();
    entry.querySelector('.opblock-summary-control')?.focus({ preventScroll: true });
    return true;
  };
  if (shown()) return;
  const watch = new MutationObserver(() => shown() && watch.disconnect());
  watch.observe(document.getElementById('reference'), { childList: true, subtree: true });
}
