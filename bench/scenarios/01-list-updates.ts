/** The cost of validation, mapping and the storage port on top of the two statements that `list-updates` needs. */

import { compare, repeated } from '../lib/ab.js';
import { seeded } from '../lib/database.js';
import { openBare } from '../lib/native.js';
import { measureOf, type Scenario } from '../lib/scenario.js';
import { openService } from '../lib/service.js';

const PAGE = `SELECT u.site_id, s.url, s.name, s.status, u.type, u.slug, u.name, u.current_version, u.new_version
  FROM site_update u INDEXED BY site_update_page JOIN site s ON s.id = u.site_id
  WHERE u.ignored = 0 ORDER BY u.url_key, u.site_id, u.type, u.position LIMIT 50`;
const COUNTS = 'SELECT type, n FROM update_count';

export const scenario: Scenario = {
  number: 1,
  name: 'list-updates',
  title: '`list-updates` (50 and summary), validated in and out, against the bare prepared statements',
  async run({ quick, dir }) {
    const sites = quick ? 1_000 : 10_000;
    const db = await seeded(dir, sites);
    const service = await openService(db);
    const bare = openBare(db);
    const page = bare.prepare(PAGE);
    const counts = bare.prepare(COUNTS);
    const compared = await compare(
      repeated(() => service.call('list-updates', {}), 40),
      repeated(() => [page.all(), counts.all()], 40),
      { rounds: quick ? 7 : 15 },
    );
    bare.close();
    await service.stop();
    return [measureOf(`list-updates, ${sites} sites`, { atMost: 1.5 }, compared, 'ms')];
  },
};
