CREATE TABLE "access_review_files" (
	"upload_id" uuid PRIMARY KEY NOT NULL,
	"content" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "access_review_uploads" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"domain_id" uuid NOT NULL,
	"review_id" uuid NOT NULL,
	"arda_id" uuid NOT NULL,
	"item_ids" uuid[] DEFAULT '{}' NOT NULL,
	"user_id" uuid NOT NULL,
	"name" text NOT NULL,
	"media_type" text NOT NULL,
	"length" integer NOT NULL,
	"digest" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "access_review_files" ADD CONSTRAINT "access_review_files_upload_id_access_review_uploads_id_fk" FOREIGN KEY ("upload_id") REFERENCES "public"."access_review_uploads"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_review_uploads" ADD CONSTRAINT "access_review_uploads_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_review_uploads" ADD CONSTRAINT "access_review_uploads_review_id_access_reviews_id_fk" FOREIGN KEY ("review_id") REFERENCES "public"."access_reviews"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_review_uploads" ADD CONSTRAINT "access_review_uploads_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "access_review_uploads_order" ON "access_review_uploads" USING btree ("review_id","created_at","id");--> statement-breakpoint
CREATE INDEX "access_review_uploads_arda" ON "access_review_uploads" USING btree ("arda_id");--> statement-breakpoint
CREATE INDEX "access_review_uploads_items" ON "access_review_uploads" USING gin ("item_ids");
--> statement-breakpoint
SELECT track_changes('access_review_uploads');
