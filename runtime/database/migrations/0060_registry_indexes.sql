CREATE TABLE "registry_indexes" (
	"domain_id" uuid NOT NULL,
	"registry" text NOT NULL,
	"key" text NOT NULL,
	"version" bigint NOT NULL,
	"seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "registry_indexes_domain_id_registry_key_pk" PRIMARY KEY("domain_id","registry","key")
);
--> statement-breakpoint
ALTER TABLE "registry_indexes" ADD CONSTRAINT "registry_indexes_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;