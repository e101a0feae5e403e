-- Two indexes of accounts had nearly the same order, and each account of a sync was written into both. One holds what lists
-- read in it beside its order, so that they find ids without looking at rows. For hosts of the version before, there is still one
-- account for each id in an app.
CREATE UNIQUE INDEX "accounts_listed" ON "accounts" USING btree ("app_id","unique_identifier") INCLUDE ("id","domain_id");
--> statement-breakpoint
DROP INDEX "accounts_identifier";
--> statement-breakpoint
DROP INDEX "accounts_order";
