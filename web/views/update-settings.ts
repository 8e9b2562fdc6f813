/** The general settings about updates, as far as the page obeys them. */

import { answer, api } from '../api/client.js';
import { useLoad } from '../api/load.js';

export interface UpdateSettings {
  /** Leaves out the button that applies everything on offer. */
  hidesAll: boolean;
  /** Whether a person is asked before this many updates are applied. */
  asks: (updates: number) => boolean;
}

/** Until they are loaded, as they are by default: nothing is hidden, and everything is asked about. */
export function useUpdateSettings(): UpdateSettings {
  const { data } = useLoad('settings:general', (signal) =>
    answer(api.GET('/settings/general', { signal })).then((body) => body.data),
  );
  const unasked = data?.disable_update_confirmations ?? 0;
  return {
    hidesAll: data?.hide_update_everything === 1,
    asks: (updates) => unasked === 0 || (unasked === 1 && updates !== 1),
  };
}
