/** Handlers of each kind of background work. */
import { RENEWAL_JOB } from '../catalogue/apps/renewal-job.ts'
import { FINDING_JOB } from '../findings/job.ts'
import type { JobHandler } from '../kernel/background/turn.ts'
import type { Post } from '../kernel/context/post.ts'
import type { QueueName } from '../kernel/jobs/queues.ts'
import { mailFeedJob } from '../mail/feed.ts'
import { mailJob } from '../mail/send.ts'
import { OFFBOARDING_JOB } from '../offboarding/job.ts'
import { POLICY_JOB } from '../policies/job.ts'
import { REQUEST_JOB } from '../requests/job.ts'
import { retentionJob } from '../retention/job.ts'
import type { KeptDays } from '../retention/rules.ts'
import { REVIEW_JOB } from '../reviews/job.ts'
import { SYNC_JOB } from '../sync/job.ts'
import { UPLOAD_JOB } from '../uploads/job.ts'
import { FEED_JOB } from '../webhooks/feed.ts'

/**
 * Returns the handler of each queue. `keptDays` is the retention of finished records. `post` is null if no
 * mail is sent.
 */
export const jobHandlers = (
  keptDays: KeptDays,
  post: Post | null,
): Record<QueueName, JobHandler> => ({
  'access-requests': REQUEST_JOB,
  'event-feeds': FEED_JOB,
  'mail-feeds': mailFeedJob(post),
  mails: mailJob(post),
  uploads: UPLOAD_JOB,
  'token-renewals': RENEWAL_JOB,
  'access-policies': POLICY_JOB,
  offboardings: OFFBOARDING_JOB,
  'access-reviews': REVIEW_JOB,
  findings: FINDING_JOB,
  syncs: SYNC_JOB,
  retention: retentionJob(keptDays),
})
