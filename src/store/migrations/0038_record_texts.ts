/**
 * Plugins and themes of a site as the JSON text that lists of sites answer, so that a page of a hundred sites need not put thousands
 * of them together. Triggers drop a text with whatever it was made of, so that no code path can forget it; the next sync stores
 * a new one, and until then readers make it themselves.
 */
export const recordTexts = `
CREATE TABLE site_record_text (
  site_id INTEGER PRIMARY KEY REFERENCES site (id) ON DELETE CASCADE,
  plugins TEXT NOT NULL,
  themes TEXT NOT NULL,
  active_theme TEXT
);

CREATE TRIGGER record_text_insert AFTER INSERT ON site_extension BEGIN
  DELETE FROM site_record_text WHERE site_id = new.site_id;
END;
CREATE TRIGGER record_text_update AFTER UPDATE ON site_extension BEGIN
  DELETE FROM site_record_text WHERE site_id = new.site_id;
END;
CREATE TRIGGER record_text_delete AFTER DELETE ON site_extension BEGIN
  DELETE FROM site_record_text WHERE site_id = old.site_id;
END;
CREATE TRIGGER record_text_package AFTER UPDATE OF slug, name, description ON package BEGIN
  DELETE FROM site_record_text WHERE site_id IN (SELECT site_id FROM site_extension WHERE package_id = new.id);
END;
`;
