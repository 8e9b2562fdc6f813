/**
 * The child's texts, in its own language. A client that decides by text fails on every second site of the fleet:
 * that is their purpose (child protocol §2.3).
 */
const ENGLISH = {
  auth: 'Authentication failed! Reset the connection of this site and connect it again.',
  sha1: 'SHA1 signatures are no longer accepted by this site.',
  connected: 'This site already has a dashboard. Deactivate and activate the child plugin, then try again.',
  unknownUser: 'There is no administrator with that name on this site.',
  notAdministrator: 'That user is not an administrator of this site.',
  incompatible: 'The child plugin of this site does not know this function. Update the child plugin and try again.',
  REG_ERROR1: 'The request to connect was not complete.',
  REG_ERROR2: 'A public key is set already. Reset the connection on the site&#8217;s settings page.',
  REG_ERROR3: 'This site needs its unique security ID to be connected.',
  REG_ERROR4: 'The unique security ID does not match.',
  REG_ERROR5: 'OpenSSL is missing on this server.',
  REG_ERROR6: 'cURL is missing on this server.',
  REG_ERROR7: 'The administrator could not be verified. Check the name and the password.',
  REG_ERROR8: 'That user does not exist.',
  REG_ERROR9: 'That user is no administrator.',
  REG_ERROR10: 'This dashboard is too old to connect to this site.',
  reconnect_failed: 'The site could not be connected again.',
  invalid: 'Invalid request!',
  missingAction: 'Missing action',
  editing: 'Another user has this post open.',
  noPost: 'That post does not exist.',
  download: 'Download failed.',
  requirement: 'The update needs a newer PHP or WordPress.',
  locked: 'Another update is in progress.',
};

const GERMAN: typeof ENGLISH = {
  auth: 'Anmeldung fehlgeschlagen! Setze die Verbindung dieser Website zur&#252;ck und verbinde sie neu.',
  sha1: 'SHA1-Signaturen nimmt diese Website nicht mehr an.',
  connected: 'Diese Website hat schon ein Dashboard. Deaktiviere und aktiviere das Plugin und versuche es erneut.',
  unknownUser: 'Auf dieser Website gibt es keinen Administrator mit diesem Namen.',
  notAdministrator: 'Dieser Benutzer ist kein Administrator dieser Website.',
  incompatible: 'Das Plugin dieser Website kennt diese Funktion nicht. Aktualisiere es und versuche es erneut.',
  REG_ERROR1: 'Die Anfrage war nicht vollst&#228;ndig.',
  REG_ERROR2: 'Es ist schon ein Schl&#252;ssel hinterlegt. Setze die Verbindung in den Einstellungen zur&#252;ck.',
  REG_ERROR3: 'Diese Website braucht ihre Sicherheits-ID.',
  REG_ERROR4: 'Die Sicherheits-ID stimmt nicht.',
  REG_ERROR5: 'OpenSSL fehlt auf diesem Server.',
  REG_ERROR6: 'cURL fehlt auf diesem Server.',
  REG_ERROR7: 'Der Administrator konnte nicht best&#228;tigt werden. Pr&#252;fe Name und Passwort.',
  REG_ERROR8: 'Diesen Benutzer gibt es nicht.',
  REG_ERROR9: 'Dieser Benutzer ist kein Administrator.',
  REG_ERROR10: 'Dieses Dashboard ist zu alt f&#252;r diese Website.',
  reconnect_failed: 'Die Website konnte nicht neu verbunden werden.',
  invalid: 'Ung&#252;ltige Anfrage!',
  missingAction: 'Aktion fehlt',
  editing: 'Ein anderer Benutzer bearbeitet diesen Beitrag.',
  noPost: 'Diesen Beitrag gibt es nicht.',
  download: 'Der Download ist fehlgeschlagen.',
  requirement: 'Die Aktualisierung braucht ein neueres PHP oder WordPress.',
  locked: 'Eine andere Aktualisierung l&#228;uft gerade.',
};

export type TextKey = keyof typeof ENGLISH;

export function say(language: string, key: TextKey): string {
  return (language.startsWith('de') ? GERMAN : ENGLISH)[key];
}
