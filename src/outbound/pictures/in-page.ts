/**
 * Programs that run in the looked-at page, as text: what compiles this file adds helpers to functions that a page does
 * not have.
 */

/**
 * Hidden in every look: boxes that ask for cookies or offer a chat come and go by themselves. By the names of the usual
 * plugins and services.
 */
const OVERLAYS = [
  '#CybotCookiebotDialog',
  '#cookie-law-info-bar',
  '#cookie-notice',
  '#onetrust-consent-sdk',
  '#BorlabsCookieBox',
  '#moove_gdpr_cookie_info_bar',
  '#usercentrics-root',
  '#cmplz-cookiebanner-container',
  '.cmplz-cookiebanner',
  '.cky-consent-container',
  '.cli-modal',
  '.cc-window.cc-banner',
  '.fc-consent-root',
  '.iubenda-cs-container',
  '#iubenda-cs-banner',
  '.qc-cmp2-container',
  '#didomi-host',
  '#tarteaucitronRoot',
  '.klaro',
  '#real-cookie-banner',
  '[id^="intercom-"]',
  '.intercom-lightweight-app',
  '#tidio-chat',
  '#crisp-chatbox',
  '.crisp-client',
  '#hubspot-messages-iframe-container',
  '#launcher[title]',
  'iframe[title*="chat" i]',
  '#chat-widget-container',
  '[class^="tawk-"]',
  '.joinchat',
  '.wp-chatbot',
];

/** Counting, advertisements and chats: our looks are no visits, and what these show differs in each. */
export const UNLOADED = [
  'google-analytics.com',
  'googletagmanager.com',
  'doubleclick.net',
  'googlesyndication.com',
  'googleadservices.com',
  'connect.facebook.net',
  'facebook.com/tr',
  'clarity.ms',
  'hotjar.com',
  'stats.wp.com',
  'pixel.wp.com',
  'plausible.io',
  'matomo.cloud',
  'amazon-adsystem.com',
  'adnxs.com',
  'taboola.com',
  'outbrain.com',
  'intercom.io',
  'intercomcdn.com',
  'tawk.to',
  'tidio.co',
  'crisp.chat',
  'zdassets.com',
  'livechatinc.com',
].map((host) => `*${host}*`);

/**
 * Runs before anything of the page: its clock begins at a moment that all looks share, chance is the same in each, and
 * what moves on its own stands still.
 */
export function stillness(startMs: number): string {
  const style = `*,*::before,*::after{animation-duration:0s!important;animation-delay:0s!important;animation-iteration-count:1!important;transition:none!important;scroll-behavior:auto!important;caret-color:transparent!important}${OVERLAYS.join(',')}{display:none!important}`;
  return `(() => {
  if (window.top !== window) return;
  const Real = Date, began = Real.now();
  const now = () => ${startMs} + Real.now() - began;
  window.Date = new Proxy(Real, {
    construct: (target, given, as) => Reflect.construct(target, given.length === 0 ? [now()] : given, as),
    apply: () => new Real(now()).toString(),
    get: (target, name, self) => (name === 'now' ? now : Reflect.get(target, name)),
  });
  let seed = 1;
  Math.random = () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const later = { setInterval: 900, setTimeout: 2500 };
  for (const name of Object.keys(later)) {
    const own = window[name];
    window[name] = function (work, ms, ...rest) {
      return own.call(window, Number(ms) >= later[name] ? () => {} : work, ms, ...rest);
    };
  }
  HTMLMediaElement.prototype.play = () => new Promise(() => {});
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(${JSON.stringify(style)});
  document.adoptedStyleSheets = [sheet];
})();`;
}

/** Lists of the latest comments. Comments themselves are told by their ids, which no visitor can write. */
const LATEST_COMMENTS = '.wp-block-latest-comments,.widget_recent_comments,#recentcomments';

/**
 * Takes away what visitors have written: one long word of theirs makes a page too wide, and one long comment moves the
 * rest out of the picture. Resolves when fonts and pictures in the window are there, or after some time.
 */
export const SETTLED = `(async () => {
  for (const element of document.querySelectorAll('[id*="comment-"],${LATEST_COMMENTS}'))
    if (element.matches('${LATEST_COMMENTS}') || /^(?:[a-z]{2,20}-)?comment-\\d{1,20}$/.test(element.id)) element.remove();
  const limit = new Promise((done) => setTimeout(done, 1500));
  const frame = () => new Promise((done) => requestAnimationFrame(() => done()));
  const shown = [...document.images].filter((image) => {
    const { top, bottom } = image.getBoundingClientRect();
    return bottom > 0 && top < innerHeight && !image.complete;
  });
  const loaded = shown.map((image) => new Promise((done) => { image.onload = image.onerror = done; }));
  await Promise.race([Promise.all([document.fonts.ready, ...loaded]), limit]);
  await new Promise((done) => setTimeout(done, 250));
  await frame(); await frame();
})()`;

/** Answers the facts of the layout that only the page itself knows. */
export const MEASURED = `(() => {
  const words = new Set(), readable = new Set();
  const MOST = 1500, LONGEST = 40;
  const wide = document.documentElement.clientWidth, high = innerHeight;
  const seen = (element) => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const within = (box) => box.width > 1 && box.height > 1 && box.right > 0 && box.left < Math.max(wide, 1) && box.bottom + scrollY > 0;
  const shows = (element) => seen(element) && within(element.getBoundingClientRect());
  const uncovered = (element, box) => {
    const x = (Math.max(box.left, 0) + Math.min(box.right, wide)) / 2, y = box.top + box.height / 2;
    if (y < 0 || y >= high) return true;
    const top = document.elementFromPoint(x, y);
    return top === null || top.contains(element) || element.contains(top);
  };
  const walker = document.createTreeWalker(document.body ?? document, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let hidden = 0, covered = 0;
  for (let node = walker.nextNode(); node !== null && words.size < MOST; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (parent === null || /^(?:script|style|noscript|template|textarea)$/i.test(parent.tagName)) continue;
    const own = node.data.toLowerCase().match(/[\\p{L}\\p{N}]{2,}/gu);
    if (own === null) continue;
    range.selectNodeContents(node);
    const box = range.getClientRects()[0];
    const drawn = box !== undefined && seen(parent) && within(box) && parseFloat(getComputedStyle(parent).fontSize) > 2;
    const can = drawn && uncovered(parent, box);
    if (!drawn) hidden++;
    else if (!can) covered++;
    for (const word of own.slice(0, MOST)) {
      words.add(word.slice(0, LONGEST));
      if (can) readable.add(word.slice(0, LONGEST));
    }
  }
  const inContent = (element) => element.parentElement?.closest('main,article,[role=main]') !== null;
  const PARTS = {
    header: 'header,[role=banner],#masthead,#header,.site-header',
    nav: 'nav,[role=navigation],#site-navigation,.main-navigation',
    main: 'main,[role=main],#content,#primary,.site-main,.site-content',
    footer: 'footer,[role=contentinfo],#colophon,.site-footer',
  };
  const filled = (element) => {
    if (!shows(element)) return false;
    const { width, height } = element.getBoundingClientRect();
    return width * height > 200;
  };
  const parts = (name) => [...document.querySelectorAll(PARTS[name])].filter((element) => (name === 'main' || !inContent(element)) && filled(element));
  const menu = new Set([...document.querySelectorAll('nav a,[role=navigation] a,header a')].filter((link) => !inContent(link) && shows(link)));
  const own = (address) => { try { return new URL(address, location.href).host === location.host; } catch { return false; } };
  const images = [...document.images].filter((image) => {
    const { top, bottom } = image.getBoundingClientRect();
    return own(image.currentSrc || image.src) && seen(image) && bottom > 0 && top < high && image.complete;
  });
  let foreign = 0;
  const rules = {};
  const count = (sheet, from) => {
    let list;
    try { list = sheet.cssRules; } catch { foreign++; return; }
    for (const rule of list) {
      if (rule.styleSheet) count(rule.styleSheet, from);
      else rules[from] = (rules[from] ?? 0) + (rule.cssRules?.length > 0 ? rule.cssRules.length : 1);
    }
  };
  for (const sheet of document.styleSheets) {
    const { pathname } = new URL(sheet.href ?? '#', location.href);
    if (sheet.href !== null && pathname.includes('/wp-includes/')) continue;
    count(sheet, sheet.href === null ? 'page' : (/\\/(?:themes|plugins)\\/[\\w.-]{1,80}/.exec(pathname)?.[0] ?? 'other'));
  }
  return JSON.stringify({
    words: [...words],
    readable: [...readable],
    hidden,
    covered,
    landmarks: Object.keys(PARTS).filter((name) => parts(name).length > 0),
    menu: menu.size,
    images: { shown: images.length, broken: images.filter((image) => image.naturalWidth === 0).length },
    styles: { rules, foreign },
    overflow: Math.max(0, (document.scrollingElement?.scrollWidth ?? 0) - wide),
  });
})()`;
