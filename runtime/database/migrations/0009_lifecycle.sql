CREATE TABLE "generations" (
	"domain_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	"user_id" uuid NOT NULL,
	"by" text NOT NULL,
	"action" text NOT NULL,
	"reason" text NOT NULL,
	"connectors" jsonb NOT NULL,
	"publishers" jsonb NOT NULL,
	"difference" jsonb NOT NULL,
	CONSTRAINT "generations_domain_id_number_pk" PRIMARY KEY("domain_id","number")
);
--> statement-breakpoint
CREATE TABLE "installed_states" (
	"digest" text PRIMARY KEY NOT NULL,
	"state" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "nodes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"domain_id" uuid NOT NULL,
	"generation" bigint NOT NULL,
	"problems" jsonb NOT NULL,
	"seen_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "packages" (
	"domain_id" uuid NOT NULL,
	"digest" text NOT NULL,
	"connector" text NOT NULL,
	"version" text NOT NULL,
	"packed" "bytea" NOT NULL,
	"digests_text" text NOT NULL,
	"signature" text,
	"uploaded_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "packages_domain_id_digest_pk" PRIMARY KEY("domain_id","digest")
);
--> statement-breakpoint
CREATE TABLE "probes" (
	"domain_id" uuid NOT NULL,
	"connector" text NOT NULL,
	"sealed" "bytea" NOT NULL,
	CONSTRAINT "probes_domain_id_connector_pk" PRIMARY KEY("domain_id","connector")
);
--> statement-breakpoint
ALTER TABLE "generations" ADD CONSTRAINT "generations_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "nodes" ADD CONSTRAINT "nodes_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "packages" ADD CONSTRAINT "packages_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "probes" ADD CONSTRAINT "probes_domain_id_domains_id_fk" FOREIGN KEY ("domain_id") REFERENCES "public"."domains"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "packages_connector" ON "packages" USING btree ("domain_id","connector","version");