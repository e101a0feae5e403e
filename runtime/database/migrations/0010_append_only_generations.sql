-- What was installed when, by whom and why only grows, as the log does: whoever asks.
CREATE TRIGGER "generations_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "generations"
	FOR EACH STATEMENT EXECUTE FUNCTION "refuse_log_change"();
--> statement-breakpoint
CREATE TRIGGER "installed_states_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "installed_states"
	FOR EACH STATEMENT EXECUTE FUNCTION "refuse_log_change"();
--> statement-breakpoint
ALTER TABLE "generations" ENABLE ALWAYS TRIGGER "generations_append_only";
--> statement-breakpoint
ALTER TABLE "installed_states" ENABLE ALWAYS TRIGGER "installed_states_append_only";
