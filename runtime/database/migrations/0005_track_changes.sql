-- Writes into table_changes what a statement did: one row for each domain that it touched, in the
-- transaction of the statement. Nothing is read or locked, so writers do not wait for each other.
CREATE FUNCTION note_changes() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO table_changes (table_name, domain_id, changes, rows)
      SELECT TG_TABLE_NAME, domain_id, 1, count(*) FROM added GROUP BY domain_id;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO table_changes (table_name, domain_id, changes, rows)
      SELECT TG_TABLE_NAME, domain_id, 1, -count(*) FROM removed GROUP BY domain_id;
  ELSIF TG_OP = 'UPDATE' THEN
    INSERT INTO table_changes (table_name, domain_id, changes, rows)
      SELECT TG_TABLE_NAME, domain_id, 1, sum(n)
      FROM (SELECT domain_id, 1 AS n FROM added UNION ALL SELECT domain_id, -1 FROM removed) AS both_sides
      GROUP BY domain_id;
  ELSE
    -- TRUNCATE holds the table alone: every other change of it is in table_changes and committed.
    INSERT INTO table_changes (table_name, domain_id, changes, rows)
      SELECT TG_TABLE_NAME, domain_id, 1, -sum(rows) FROM table_changes
      WHERE table_name = TG_TABLE_NAME GROUP BY domain_id;
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
-- Begins to track a table with a domain_id. A migration that adds a table whose pages are listed calls it.
CREATE FUNCTION track_changes(tracked text) RETURNS void LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', tracked);
  EXECUTE format('CREATE TRIGGER note_insert AFTER INSERT ON %I REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION note_changes()', tracked);
  EXECUTE format('CREATE TRIGGER note_update AFTER UPDATE ON %I REFERENCING NEW TABLE AS added OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION note_changes()', tracked);
  EXECUTE format('CREATE TRIGGER note_delete AFTER DELETE ON %I REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION note_changes()', tracked);
  EXECUTE format('CREATE TRIGGER note_truncate AFTER TRUNCATE ON %I
    FOR EACH STATEMENT EXECUTE FUNCTION note_changes()', tracked);
  -- The row by which a reader knows that the table is tracked, and what is there already.
  INSERT INTO table_changes (table_name, domain_id, changes, rows)
    VALUES (tracked, '00000000-0000-0000-0000-000000000000', 1, 0);
  EXECUTE format('INSERT INTO table_changes (table_name, domain_id, changes, rows)
    SELECT %L, domain_id, 1, count(*) FROM %I GROUP BY domain_id', tracked, tracked);
END $$;
--> statement-breakpoint
SELECT track_changes('users');
--> statement-breakpoint
SELECT track_changes('groups');
--> statement-breakpoint
SELECT track_changes('group_members');
--> statement-breakpoint
SELECT track_changes('tasks');
--> statement-breakpoint
SELECT track_changes('task_assignees');
--> statement-breakpoint
SELECT track_changes('activity_logs');

--> statement-breakpoint
SELECT track_changes('apps');
