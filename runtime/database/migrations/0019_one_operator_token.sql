ALTER TABLE "api_tokens" ADD COLUMN "operator" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "login_links" ADD COLUMN "token_id" uuid;--> statement-breakpoint
ALTER TABLE "login_links" ADD CONSTRAINT "login_links_token_id_api_tokens_id_fk" FOREIGN KEY ("token_id") REFERENCES "public"."api_tokens"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
-- Those that starts of hosts made; a page gives each of its tokens the id of a form.
UPDATE "api_tokens" SET "operator" = true WHERE "name" = 'operator' AND "description" = 'KEYWAY_ADMIN_TOKEN' AND "form_id" IS NULL;
--> statement-breakpoint
-- Nobody knows which token made these links, and the sessions that they began: whoever needs one makes another.
DELETE FROM "login_links";--> statement-breakpoint
DELETE FROM "sessions" WHERE "token_id" IS NULL;
