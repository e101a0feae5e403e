/** The order of test files, and those that need a process of their own. */
import path from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Test files with a process of their own, because they replace modules of the runtime or change shared state
 * of a process. All others share processes, because loading the runtime takes longer than most of them.
 */
export const APART: readonly string[] = [
  'test/core/requests/property/property.test.ts',
  // Compares with Node's own Response, which @hono/node-server replaces in its process.
  'test/worker/guest/library.test.ts',
]

/**
 * Test files that take longest, the longest first. Begun last, they would leave one core idle at the end. The
 * reporter shows how long each took next to others.
 */
export const SLOWEST: readonly string[] = [
  'test/e2e/pages.test.ts',
  'test/hostile/hostile.test.ts',
  'test/e2e/tarball.test.ts',
  'test/e2e/cli.test.ts',
  'test/e2e/keystone.test.ts',
  'test/core/mail/mail.test.ts',
  'test/e2e/mariadb-connector.test.ts',
  'test/core/requests/faults/meanwhile.test.ts',
  'test/core/reviews/real/flow.test.ts',
  'test/soak/soak.test.ts',
  'test/conformance/all.test.ts',
  'test/e2e/sample.test.ts',
  'test/connectors/lifecycle/killed.test.ts',
  'test/core/sync/failures.test.ts',
  'test/database/killed.test.ts',
  'test/testing/check-connector.test.ts',
  'test/core/requests/last-leaves.test.ts',
  'test/database/backup.test.ts',
  'test/e2e/redmine.test.ts',
  'test/database/upgraded-hosts.test.ts',
  'test/faults/faults.test.ts',
  'test/core/conformance.test.ts',
  'test/e2e/influxdb.test.ts',
  'test/core/requests/faults/sleeping-account.test.ts',
  'test/cli/sample-company.test.ts',
  'test/e2e/rolling.test.ts',
  'test/e2e/postgresql-connector.test.ts',
  'test/e2e/sandbox.test.ts',
  'test/e2e/broken-edit.test.ts',
  'test/core/requests/faults/each-step.test.ts',
  'test/core/reviews/large.test.ts',
  'test/e2e/rabbitmq.test.ts',
  'test/core/requests/provisioning.test.ts',
  'test/database/server-place.test.ts',
  'test/core/requests/faults/random-kills.test.ts',
  'test/core/requests/real/rabbitmq.test.ts',
  'test/database/restored-live.test.ts',
  'test/connectors/registry/compile.test.ts',
  'test/database/step-by-step.test.ts',
  'test/e2e/streams.test.ts',
  'test/e2e/drop-in.test.ts',
  'test/core/policies/everybody.test.ts',
  'test/egress/sql/postgresql.test.ts',
  'test/core/requests/faults/changed-connector.test.ts',
  'test/lanes/again.test.ts',
  'test/e2e/stop.test.ts',
  'test/database/restored-jobs.test.ts',
  'test/cli/checkout.test.ts',
  'test/upgrades/upgrades.test.ts',
  'test/e2e/ldap-connector.test.ts',
  'test/e2e/backup.test.ts',
  'test/core/reviews/removal.test.ts',
  'test/cli/readme.test.ts',
  'test/database/restored-versions.test.ts',
  'test/core/offboarding/bad-system.test.ts',
  'test/e2e/docs.test.ts',
  'test/e2e/wordpress.test.ts',
  'test/cli/check.test.ts',
  'test/core/two-hosts.test.ts',
  'test/cli/install.test.ts',
  'test/lanes/lanes.test.ts',
  'test/http/docs/browser.test.ts',
  'test/doctor/doctor.test.ts',
  'test/bench/sync.test.ts',
  'test/http/lists.test.ts',
  'test/connectors/registry/watch.test.ts',
  'test/connectors/lifecycle/install.test.ts',
  'test/e2e/active-directory.test.ts',
  'test/e2e/processes.test.ts',
  'test/egress/ldap/directory-client.test.ts',
  'test/e2e/github.test.ts',
  'test/e2e/scim.test.ts',
  'test/database/embedded.test.ts',
  'test/e2e/sign-in.test.ts',
  'test/core/requests/property/property.test.ts',
]

const ROOT = path.join(import.meta.dirname, '..', '..')

const RANKS: ReadonlyMap<string, number> = new Map(SLOWEST.map((file, n) => [file, n]))

/** Sorts the slowest files first, and then those that run apart, which keep a process from being shared. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const others = await super.sort(files)
    const rank = ({ moduleId }: TestSpecification) =>
      RANKS.get(path.relative(ROOT, moduleId)) ?? SLOWEST.length
    return others.sort((a, b) => rank(a) - rank(b))
  }
}
