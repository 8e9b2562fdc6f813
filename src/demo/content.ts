import { generateLog } from './change-log.js';
import { FAMILIES, PAGE_TITLES, POST_TITLES, REMARKS } from './names.js';
import type { Random } from './random.js';
import type { CommentState, CommentStatus, PluginState, PostState, SiteAction, SiteState, UserState } from './state.js';

const DAY = 86400;

type Content = Pick<SiteState, 'posts' | 'comments' | 'categories' | 'actions' | 'changeLog' | 'nextId'>;

/** Generates posts, comments and logs of activity on the site. */
export function generateContent(random: Random, users: UserState[], plugins: PluginState[], now: number): Content {
  const author = users[0]?.login ?? 'admin';
  const posts = [
    ...withFirst(POST_TITLES, random, 8).map((title) => makePost(random, 'post', title, author, now)),
    ...withFirst(PAGE_TITLES, random, 5).map((title) => makePost(random, 'page', title, author, now)),
  ].map((post, i) => ({ ...post, id: i + 1 }));
  const commented = posts.filter((post) => post.type === 'post' && post.status === 'publish');
  const comments = commented.length === 0 ? [] : makeComments(random, commented, now);
  const actions = new Map<string, SiteAction>();
  const switched = random.sample(
    plugins.filter((plugin) => !plugin.active),
    random.int(0, 2),
  );
  switched.forEach((plugin, i) => {
    const created = now - (switched.length - i) * random.int(3000, 200000) + 0.25;
    actions.set(`${Math.floor(created * 10000)}${i}`, deactivated(plugin, author, created));
  });
  return {
    posts,
    comments,
    categories: [
      { term_id: 1, name: 'Uncategorized', slug: 'uncategorized' },
      { term_id: 4, name: 'News', slug: 'news' },
    ],
    actions,
    changeLog: generateLog(author, posts[0], now),
    nextId: posts.length + 10,
  };
}

/** The post or page that WordPress itself creates, and at least one other. */
function withFirst(titles: readonly string[], random: Random, most: number): string[] {
  return [...titles.slice(0, 1), ...random.sample(titles.slice(1), random.int(1, most - 1))];
}

function makePost(random: Random, type: 'post' | 'page', title: string, author: string, now: number): PostState {
  const statuses = ['publish', 'publish', 'publish', 'publish', 'draft', 'pending', 'trash', 'future'];
  const status = title === 'Hello world!' || title === 'Sample Page' ? 'publish' : random.pick(statuses);
  const date = status === 'future' ? now + random.int(1, 30) * DAY : now - random.int(1, 700) * DAY;
  return {
    ...emptyPost(0, author, date),
    type,
    status,
    statusBefore: status === 'trash' ? 'publish' : status,
    title,
    content: `<p>${title}.</p>\n<p>Text of this ${type}.</p>`,
    name: slugify(title),
    categories: type === 'post' ? [random.chance(0.5) ? 'News' : 'Uncategorized'] : [],
    tags: type === 'post' && random.chance(0.3) ? ['local', 'team'] : [],
    meta: { _pingme: ['1'], _encloseme: ['1'] },
  };
}

/** A new draft. */
export function emptyPost(id: number, author: string, date: number): PostState {
  return {
    id,
    type: 'post',
    status: 'draft',
    statusBefore: 'draft',
    title: '',
    content: '',
    excerpt: '',
    name: '',
    author,
    categories: [],
    tags: [],
    date,
    modified: date,
    commentStatus: 'open',
    pingStatus: 'open',
    password: '',
    sticky: false,
    featuredImage: '',
    meta: {},
    lockedBy: '',
  };
}

function makeComments(random: Random, posts: PostState[], now: number): CommentState[] {
  const statuses: CommentStatus[] = ['approved', 'approved', 'unapproved', 'spam', 'trash'];
  return Array.from({ length: random.int(1, 7) }, (_, i) => {
    const status = random.pick(statuses);
    const family = random.pick(FAMILIES);
    return {
      id: i + 1,
      status,
      statusBefore: status === 'spam' || status === 'trash' ? 'unapproved' : status,
      author: family,
      authorUrl: '',
      authorIp: `198.51.100.${random.int(1, 250)}`,
      authorEmail: `${family.toLowerCase().replace(/[^a-z]/g, '')}@mail.example`,
      postId: random.pick(posts).id,
      content: random.pick(REMARKS),
      date: now - random.int(1, 300) * 3600,
    };
  });
}

function deactivated(plugin: PluginState, user: string, created: number): SiteAction {
  return {
    context: 'plugins',
    action: 'deactivated',
    action_user: user,
    created,
    summary: `"${plugin.name}" plugin deactivated `,
    meta_data: {
      user_meta: userMeta(user),
      extra_info: { name: plugin.name, slug: plugin.slug },
      slug: plugin.slug,
    },
    duration: 0.019,
  };
}

function userMeta(user: string): Record<string, unknown> {
  return {
    wp_user_id: 1,
    display_name: user,
    role: 'administrator',
    user_role_label: 'Administrator',
    agent: '',
    full_name: '',
    username: user,
    ip: '198.51.100.7',
    action_user: user,
  };
}

/** WordPress' post name of a title. */
export function slugify(title: string): string {
  const name = title.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return name.replace(/^-|-$/g, '');
}
