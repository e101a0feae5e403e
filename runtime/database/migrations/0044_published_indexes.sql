CREATE TABLE "published_indexes" (
	"domain_id" uuid NOT NULL,
	"key" text NOT NULL,
	"version" bigint NOT NULL,
	"seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "published_indexes_domain_id_key_pk" PRIMARY KEY("domain_id","key")
);
--> statement-breakpoint
ALTER TABLE "published_indexes" ADD CONSTRAINT "published_indexes_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;