/** Content of a child site as the port exchanges it: posts, comments and users, without PHP's names and encodings. */

import type { Comment, CommentAction, CommentStatus } from '../../../schemas/comment.js';
import type { NewPost, POST_COLUMNS, PostChange, PostDetail, PostItem, SearchOn } from '../../../schemas/post.js';

/** A time range by the site's own clock, `YYYY-MM-DD HH:MM:SS`, both ends exclusive. */
export interface LocalRange {
  after: string;
  before: string;
}

export interface PostsQuery {
  statuses: readonly string[];
  post_type: string;
  /** Maximum number of posts in the answer. */
  maximum: number;
  search?: { text: string; on: SearchOn } | undefined;
  /** By the date of the post, not of its last change. */
  range?: LocalRange | undefined;
}

/** A post in a list. `dts` is its date in unix seconds, or null. */
export type ChildPost = Omit<PostItem, 'post_date' | 'website_id' | 'website_url' | 'website_name'>;

/** A list entry of one post: the members that are missing when it is read for editing. */
export interface PostListing extends ChildPost {
  /** '' if the site does not report it. */
  link: string;
}

/** A post as an editor opens it; without `link`, `author` and `modified`, which only a list contains. */
export type EditablePost = Omit<PostDetail, 'link' | 'author' | 'modified'> & {
  /** Id of the featured image on the site; '' if there is none. */
  thumbnail_id: string;
  /** `<unix seconds>:<user id>` of the editor that had the post open before this call; '' for none. */
  edit_lock: string;
  /** Status before it was moved to the trash; '' if unknown. */
  status_before_trash: string;
};

export type PostUpdate = Pick<PostChange, (typeof POST_COLUMNS)[number] | 'post_tags' | 'post_custom'> & {
  /** Empty: none but the site's default category. Others are set by a save. */
  post_category?: readonly [] | undefined;
  /** Id of an image of the site to use as the featured one. */
  thumbnail_id?: string | undefined;
};

export type SavedFields = Partial<NewPost>;

/** The post that a save replaces. */
export interface SavedOver {
  id: number;
  post_type: string;
  /** Login; '' leaves the author to the site. */
  author: string;
}

export interface SavedPost {
  /** null if the site names no post. */
  id: number | null;
  /** '' if the site does not report it. */
  link: string;
}

export type PostAction = 'publish' | 'unpublish' | 'trash' | 'restore' | 'delete';

export interface CommentsQuery {
  statuses: readonly CommentStatus[];
  /** Maximum number of comments in the answer, and per status; 0 = all. */
  maximum: number;
  search?: string | undefined;
  range?: LocalRange | undefined;
  /** Only comments of this post. */
  post_id?: number | undefined;
}

/** `dts` is the date in unix seconds, or null. */
export type ChildComment = Omit<Comment, 'comment_date' | 'website_id' | 'website_url' | 'website_name'> & {
  dts: number | null;
};

export type { CommentAction };

export interface ChildUser {
  login: string;
  /** The name in URLs and lists; not always the login. */
  nicename: string;
}
