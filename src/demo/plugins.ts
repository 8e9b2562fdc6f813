/** The plugins and themes of the simulated sites: those that exist by their real names, a few invented. */

export type CatalogueItem = readonly [slug: string, name: string, version: string, author: string, about: string];

/** A row per plugin or theme: slug, name, newest version, author, description. */
function catalogue(table: string): CatalogueItem[] {
  const rows = table.trim().split('\n');
  return rows.map((row) => {
    const [slug = '', name = '', version = '', author = '', about = ''] = row.split('|').map((cell) => cell.trim());
    return [slug, name, version, author, about];
  });
}

export const CHILD_SLUG = 'mainwp-child/mainwp-child.php';
export const CHILD_VERSION = '6.1';
export const WP_VERSION = '7.1.4';

export const PLUGINS = catalogue(`
  akismet/akismet.php | Akismet Anti-spam: Spam Protection | 5.7.2 | Automattic | Keeps spam out of comments and contact forms.
  contact-form-7/wp-contact-form-7.php | Contact Form 7 | 6.2.1 | Rock Lobster Inc. | Just another contact form plugin. Simple but flexible.
  wordpress-seo/wp-seo.php | Yoast SEO | 27.4 | Team Yoast | Search engine optimisation, from titles to structured data.
  woocommerce/woocommerce.php | WooCommerce | 10.8.1 | Automattic | An open source shop for selling anything.
  elementor/elementor.php | Elementor | 3.35.2 | Elementor.com | A page builder with live drag and drop.
  classic-editor/classic-editor.php | Classic Editor | 1.6.7 | WordPress Contributors | Brings back the previous editor screen.
  jetpack/jetpack.php | Jetpack | 15.9 | Automattic | Security, performance and marketing in one place.
  wordfence/wordfence.php | Wordfence Security | 8.1.4 | Wordfence | Firewall, malware scan and login security.
  updraftplus/updraftplus.php | UpdraftPlus - Backup/Restore | 1.26.3 | TeamUpdraft | Backups to local or remote storage, by schedule.
  wp-super-cache/wp-cache.php | WP Super Cache | 3.1.0 | Automattic | Serves static pages made from dynamic ones.
  litespeed-cache/litespeed-cache.php | LiteSpeed Cache | 7.8 | LiteSpeed Technologies | Page cache and optimisation at server level.
  w3-total-cache/w3-total-cache.php | W3 Total Cache | 2.9.6 | BoldGrid | Page, object and database cache.
  autoptimize/autoptimize.php | Autoptimize | 3.1.15 | Frank Goossens | Aggregates, minifies and defers scripts and styles.
  wpforms-lite/wpforms.php | WPForms Lite | 1.10.2 | WPForms | Forms by drag and drop.
  really-simple-ssl/rlrsssl-really-simple-ssl.php | Really Simple Security | 9.6.1 | Really Simple Plugins | Moves a site to TLS and hardens it.
  redirection/redirection.php | Redirection | 5.7.1 | John Godley | Manages redirects and logs missing pages.
  duplicate-post/duplicate-post.php | Yoast Duplicate Post | 4.6 | Enrico Battocchi & Team Yoast | Clones posts and pages.
  advanced-custom-fields/acf.php | Advanced Custom Fields | 6.8.2 | WP Engine | Fields for posts, users and options.
  all-in-one-wp-migration/all-in-one-wp-migration.php | All-in-One WP Migration | 7.102 | ServMask | Exports a site into one file.
  google-site-kit/google-site-kit.php | Site Kit by Google | 1.178.0 | Google | Statistics of several services on the dashboard.
  wp-mail-smtp/wp_mail_smtp.php | WP Mail SMTP | 4.8.0 | WP Mail SMTP | Sends mail through a real mail server.
  limit-login-attempts-reloaded/limit-login-attempts-reloaded.php | Limit Login Attempts Reloaded | 2.27.1 | Limit Login Attempts Reloaded | Blocks repeated failed logins.
  tablepress/tablepress.php | TablePress | 3.3 | Tobias Bäthge | Tables without writing code.
  polylang/polylang.php | Polylang | 3.8.1 | WP SYNTEX | A site in several languages.
  mailchimp-for-wp/mailchimp-for-wp.php | MC4WP: Mailchimp for WordPress | 4.11.1 | ibericode | Newsletter sign-up forms.
  antispam-bee/antispam_bee.php | Antispam Bee | 2.12.0 | pluginkollektiv | Spam check for comments that respects privacy.
  query-monitor/query-monitor.php | Query Monitor | 3.20.4 | John Blackbourn | Shows queries, hooks and errors to developers.
  regenerate-thumbnails/regenerate-thumbnails.php | Regenerate Thumbnails | 3.1.7 | Alex Mills | Regenerates image sizes.
  cookie-law-info/cookie-law-info.php | CookieYes | 3.4.1 | CookieYes | Cookie banner and consent log.
  complianz-gdpr/complianz-gpdr.php | Complianz | 7.5.0 | Really Simple Plugins | Consent and legal documents.
  ninja-forms/ninja-forms.php | Ninja Forms | 3.13.2 | Saturday Drive | Form builder.
  the-events-calendar/the-events-calendar.php | The Events Calendar | 6.16.0 | The Events Calendar | Events, lists and months.
  bbpress/bbpress.php | bbPress | 2.6.14 | The bbPress Contributors | Forums.
  buddypress/bp-loader.php | BuddyPress | 14.5.0 | The BuddyPress Community | Profiles, groups and activity.
  smart-slider-3/smart-slider-3.php | Smart Slider 3 | 3.5.1.31 | Nextend | Responsive sliders.
  wp-optimize/wp-optimize.php | WP-Optimize | 4.4.0 | TeamUpdraft | Cleans the database, compresses images.
  imagify/imagify.php | Imagify | 2.2.7 | WP Media | Compresses images.
  broken-link-checker/broken-link-checker.php | Broken Link Checker | 2.4.7 | WPMU DEV | Looks for links that lead nowhere.
  health-check/health-check.php | Health Check & Troubleshooting | 1.7.1 | The WordPress.org community | Finds the plugin that breaks the site.
  user-role-editor/user-role-editor.php | User Role Editor | 4.65 | Vladimir Garagulya | Edits roles and capabilities.
  wp-statistics/wp-statistics.php | WP Statistics | 14.17.1 | VeronaLabs | Visitor statistics without a third party.
  matomo/matomo.php | Matomo Analytics | 5.6.2 | Matomo | Web analytics on the own server.
  simple-history/index.php | Simple History | 5.21.0 | Pär Thernström | Shows recent changes.
  enable-media-replace/enable-media-replace.php | Enable Media Replace | 4.1.7 | ShortPixel | Replaces files of the media library.
  svg-support/svg-support.php | SVG Support | 2.5.14 | Benbodhi | Uploads SVG files.
  header-footer-code-manager/99robots-header-footer-code-manager.php | Header Footer Code Manager | 1.1.43 | DraftPress | Snippets in header and footer.
  code-snippets/code-snippets.php | Code Snippets | 3.9.4 | Code Snippets Pro | Runs snippets without a child theme.
  loginizer/loginizer.php | Loginizer | 2.0.4 | Softaculous | Protects the login form.
  under-construction-page/under-construction.php | Under Construction | 4.03 | WebFactory Ltd | Hides a site while it is made.
  shortcodes-ultimate/shortcodes-ultimate.php | Shortcodes Ultimate | 7.4.7 | Vova Anokhin | A collection of page elements.
`);

/** Names of items without a release for years; they fill the "abandoned" lists. */
export const STALE_PLUGINS = catalogue(`
  old-gallery-box/old-gallery-box.php | Old Gallery Box | 1.4.2 | M. Tanaka | Opens pictures in a box.
  fancy-ticker/fancy-ticker.php | Fancy Ticker | 0.9.8 | Webwerk | A news ticker for the sidebar.
  simple-guestbook/simple-guestbook.php | Simple Guestbook | 2.1 | J. Doe | A guestbook page.
  weather-corner/weather-corner.php | Weather Corner | 1.0.3 | Skyline Labs | Shows the weather.
`);

/** Commercial plugins, unknown to the public directory. */
export const PREMIUM_PLUGINS = catalogue(`
  gravityforms/gravityforms.php | Gravity Forms | 2.10.3 | Gravity Forms | Forms with payment and logic.
  wp-rocket/wp-rocket.php | WP Rocket | 3.21.1 | WP Media | Page cache.
  elementor-pro/elementor-pro.php | Elementor Pro | 3.35.1 | Elementor.com | More widgets for the builder.
`);

export const THEMES = catalogue(`
  twentytwentyfive | Twenty Twenty-Five | 1.5 | the WordPress team | Simplicity and adaptability.
  twentytwentyfour | Twenty Twenty-Four | 1.6 | the WordPress team | A flexible default theme.
  twentytwentythree | Twenty Twenty-Three | 1.8 | the WordPress team | A blank canvas with style variations.
  astra | Astra | 4.12.3 | Brainstorm Force | Fast and customisable.
  generatepress | GeneratePress | 3.7.1 | Tom Usborne | Lightweight and accessible.
  oceanwp | OceanWP | 4.2.0 | OceanWP | Multi-purpose theme.
  hello-elementor | Hello Elementor | 3.5.2 | Elementor Team | A plain base for the builder.
  kadence | Kadence | 1.4.3 | Kadence WP | Headers and footers by drag and drop.
  neve | Neve | 4.2.2 | Themeisle | Super fast, mobile first.
  storefront | Storefront | 4.7.0 | Automattic | The shop theme.
`);

export const STALE_THEMES = catalogue(`
  pixel-garden | Pixel Garden | 1.1.0 | Atelier Nord | A magazine theme of its time.
`);
