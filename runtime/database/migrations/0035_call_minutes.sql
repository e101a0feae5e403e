CREATE TABLE "call_minutes" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"minute" timestamp with time zone NOT NULL,
	"connector" text NOT NULL,
	"capability" text NOT NULL,
	"host" uuid NOT NULL,
	"calls" integer NOT NULL,
	"by_caller" integer DEFAULT 0 NOT NULL,
	"by_connector" integer DEFAULT 0 NOT NULL,
	"by_provider" integer DEFAULT 0 NOT NULL,
	"by_operator" integer DEFAULT 0 NOT NULL,
	"by_runtime" integer DEFAULT 0 NOT NULL,
	"buckets" integer[] NOT NULL,
	"requests" integer DEFAULT 0 NOT NULL,
	"sent_bytes" bigint DEFAULT 0 NOT NULL,
	"received_bytes" bigint DEFAULT 0 NOT NULL,
	"upstream" jsonb DEFAULT '{}' NOT NULL
);
--> statement-breakpoint
ALTER TABLE "call_minutes" ADD CONSTRAINT "call_minutes_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "call_minutes_of" ON "call_minutes" USING btree ("domain_id","connector","minute","capability","host");--> statement-breakpoint
CREATE INDEX "call_minutes_minute" ON "call_minutes" USING btree ("domain_id","minute");