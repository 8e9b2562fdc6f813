import type { Operation } from '../../src/operation/operation.js';
import createPost from './create-post-v1.js';
import editPost from './edit-post-v1.js';
import getPost from './get-post-v1.js';
import listComments from './list-comments-v1.js';
import listPosts from './list-posts-v1.js';
import moderateComments from './moderate-comments-v1.js';
import setPostStatus from './set-post-status-v1.js';

export const content: readonly Operation[] = [
  listPosts,
  getPost,
  createPost,
  editPost,
  setPostStatus,
  listComments,
  moderateComments,
];
