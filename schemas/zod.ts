/**
 * The only import of zod. Our schemas are written against the v3 API because `zod-to-json-schema` converts only that
 * one (for a v4 schema it silently returns an empty schema).
 */
export { z } from 'zod/v3';
