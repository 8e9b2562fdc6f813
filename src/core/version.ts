/** The version that greetings and documents show; the one of package.json, held together by a test. */
export const VERSION = '0.1.0';
