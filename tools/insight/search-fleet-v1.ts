import { fleetSearch, searchAnswer } from '../../schemas/search.js';
import { searchFleet } from '../../src/domain/fleet/search.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/search-fleet-v1',
  title: 'Search the fleet',
  about: 'Finds sites, or installs of a plugin or theme, as of the last sync. Filters combine; lists mean any of them.',
  instructions: 'Start here for questions about many sites.',
  run: 'POST',
  effect: 'read',

  input: fleetSearch,

  output: searchAnswer,

  handle: (input, ctx) => searchFleet(ctx, input),
});
