/** Reading PHP's JSON follows the same rules wherever it is read. */
export {
  asMap,
  countOf,
  entriesOf,
  flagOf,
  get,
  type JsonMap,
  listOf,
  numberOf,
} from '../../schemas/loose.js';
