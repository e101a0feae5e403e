-- Each sync marks each row that it sees. Where its page has room for the new version, no index is written; the next sync
-- takes the room of the old one. A table that is full has to move every row, and write all of its indexes, each time, and
-- grows to the same size.
ALTER TABLE "accounts" SET (fillfactor = 48);
--> statement-breakpoint
ALTER TABLE "associations" SET (fillfactor = 48);
--> statement-breakpoint
-- Nobody asks for accounts of nobody.
DROP INDEX "accounts_user";
--> statement-breakpoint
CREATE INDEX "accounts_user" ON "accounts" USING btree ("user_id") WHERE "accounts"."user_id" is not null;
--> statement-breakpoint
DROP INDEX "account_spans_user";
--> statement-breakpoint
CREATE INDEX "account_spans_user" ON "account_spans" USING btree ("user_id","since") WHERE "account_spans"."user_id" is not null;
