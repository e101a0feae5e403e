-- Rows that were added are read once instead of twice: most statements add accounts of one app.
CREATE OR REPLACE FUNCTION check_account_apps() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  one record;
BEGIN
  FOR one IN SELECT DISTINCT app_id, domain_id FROM added ORDER BY app_id LOOP
    PERFORM FROM apps WHERE id = one.app_id AND domain_id = one.domain_id FOR KEY SHARE;
    IF NOT FOUND THEN
      RAISE foreign_key_violation USING MESSAGE = 'accounts of an app that is not there, or is another domain''s';
    END IF;
  END LOOP;
  RETURN NULL;
END $$;
