import type { NewSite } from '../../src/store/sites/rows.js';

/** A site as storage accepts it, with only its address known. */
export function bareSite(url: string, more: Partial<NewSite> = {}): NewSite {
  return {
    url,
    url_key: url.replace(/^https?:\/\//, ''),
    name: url,
    client_id: null,
    tags: [],
    admin_username: 'admin',
    ssl_verify: true,
    title_tries: null,
    unique_id: '',
    private_key: 'none',
    regverify: null,
    http_user: null,
    http_pass: null,
    ...more,
  };
}
