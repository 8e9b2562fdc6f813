/** The version shown in greetings and documents. Equal to that of package.json, which a test checks. */
export const VERSION = '0.1.0';
