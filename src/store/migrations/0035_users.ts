/** Users that are switched off. What a user may is part of each open session, so another right ends them, as another password does. */
export const users = `
ALTER TABLE user ADD COLUMN enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1));

CREATE TRIGGER web_session_rights AFTER UPDATE OF rights, enabled ON user
WHEN old.rights <> new.rights OR old.enabled <> new.enabled BEGIN
  DELETE FROM web_session WHERE user_id = new.id;
  DELETE FROM login_link WHERE user_id = new.id;
END;
`;
