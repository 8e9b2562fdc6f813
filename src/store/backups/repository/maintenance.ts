/** Keeps the backup repository sound: sweeps what no snapshot needs, checks what is stored, makes the index again. */

import { createHash } from 'node:crypto';
import { RepositoryError } from '../../../runtime/repository-error.js';
import { listPack, packPath } from './packs.js';
import type { Checked, CheckParts, Damage, Repository, RepositoryParts, SweepParts, Swept } from './types.js';

const HOUR_MS = 3_600_000;
/** A pack is removed this long after it was found unused. */
const GRACE_MS = 24 * HOUR_MS;

/**
 * Removes packs that no snapshot needs, in two steps. The first marks them; a backup stores again what only marked packs
 * have. The second, at the next sweep, removes what was marked long enough ago and is still not needed, unless a backup
 * is under way that began before the mark: it may have found its chunks there.
 */
export async function sweep(
  repository: Repository,
  { backend, index }: RepositoryParts,
  parts: SweepParts,
): Promise<Swept> {
  // Before the snapshots are read: a backup that ends in between is one of them then.
  const oldest = await parts.oldestRunning();
  const packs = await index.packs();
  const needed = new Set<string>();
  const listed = new Set(await repository.snapshots());
  for (const id of new Set([...listed, ...(await parts.known())])) {
    const snapshot = await repository.snapshot(id).catch((error: unknown) => {
      // Not listed, and not there: it was removed meanwhile, or is lost.
      if (!listed.has(id) && error instanceof RepositoryError && error.kind === 'missing') return null;
      throw error;
    });
    if (snapshot === null) continue;
    for await (const chunk of parts.chunksOf(snapshot, needed)) needed.add(chunk);
  }
  const [unused, used]: [string[], string[]] = [[], []];
  for (const { name } of packs) {
    const chunks = await index.chunksOf(name);
    (chunks.some(({ chunk }) => needed.has(chunk)) ? used : unused).push(name);
  }
  await index.mark(unused, used, parts.now);
  const swept: Swept = { packs: packs.length, marked: unused.length, removed: 0, removed_bytes: 0 };
  const still = new Set(unused);
  for (const { name, bytes, unused_since } of packs) {
    if (!still.has(name) || unused_since === null) continue;
    const waits = parts.now - unused_since < (parts.graceMs ?? GRACE_MS) || (oldest !== null && oldest <= unused_since);
    // The index first: what it does not name, no backup refers to.
    if (waits || !(await index.forget(name))) continue;
    await backend.remove(packPath(name));
    swept.removed += 1;
    swept.removed_bytes += bytes;
  }
  return swept;
}

/** Reads packs and compares them with their names, which are digests of their bytes. */
export async function checkPacks(
  { backend, index }: RepositoryParts,
  { share, pick, only, signal }: CheckParts,
): Promise<Checked> {
  const known = (await index.packs()).filter(({ name }) => only?.has(name) ?? true);
  const stored = new Map((await backend.list('packs')).map(({ name, bytes }) => [name.slice(-64), bytes]));
  const damage: Damage[] = [];
  let [read, bytes] = [0, 0];
  for (const { name } of known) {
    signal.throwIfAborted();
    if (!stored.has(name)) damage.push({ pack: name, problem: 'It is missing.' });
    else if (pick() < share) {
      const pack = await backend.get(packPath(name));
      read += 1;
      bytes += pack.length;
      if (createHash('sha256').update(pack).digest('hex') !== name)
        damage.push({ pack: name, problem: 'Its bytes are not those that were stored.' });
    }
  }
  return { packs: known.length, read, bytes, damage };
}

/** Makes the index again from the packs. Those that cannot be read are returned. */
export async function rebuildIndex({
  backend,
  index,
  sealer,
}: RepositoryParts): Promise<{ packs: number; damage: Damage[] }> {
  const damage: Damage[] = [];
  await index.clear();
  let packs = 0;
  for (const { name: path, bytes } of await backend.list('packs')) {
    const name = path.slice(-64);
    try {
      await index.add(name, bytes, await listPack(backend, sealer, name, bytes));
      packs += 1;
    } catch (error) {
      if (!(error instanceof RepositoryError)) throw error;
      damage.push({ pack: name, problem: error.message });
    }
  }
  return { packs, damage };
}
