/** Verbs for operators about access reviews and their evidence. */
import { type Command, Option } from 'commander'
import { REVIEW_TYPES } from '../contract/models/access-review.ts'
import { ON_DEADLINE, REVIEWER_KINDS, SECOND_KINDS } from '../contract/models/review-item.ts'
import { namedArgument, namedOption } from './terminal/named-arguments.ts'
import { answering, askingHost, collect, helped } from './terminal/options.ts'
import { parseWholeNumber } from './terminal/whole-number.ts'

const ID = 'id of the access review, see keyway review list'
const PAGE = 'also write its human-readable page'

/** Adds the verbs. */
export function addReviewVerbs(program: Command): void {
  program.commandsGroup('Access reviews:')
  const review = program.command('review').description('access reviews and their evidence')
  addLooks(review)
  addLaunch(review)
  addEvidence(review)
}

function addLooks(review: Command): void {
  helped(askingHost(review.command('list')), { examples: ['review list'] })
    .option('--limit <number>', 'maximum number, up to 100', parseWholeNumber, 50)
    .description('list access reviews, newest first')
    .action(async (flags) => (await import('./operator/reviews.ts')).list(flags))

  helped(askingHost(review.command('show')), { examples: ['review show 5f0c...'] })
    .addArgument(namedArgument('review', '<id>', ID))
    .description('show the progress of an access review by app, and why one is stuck')
    .action(async (id, flags) => (await import('./operator/reviews.ts')).show(id, flags))
}

function addLaunch(review: Command): void {
  helped(askingHost(review.command('launch')), {
    notes: `An app starts from its last complete sync. If that is too old, a new sync is started and the review waits for it.
NAMED reviewers, scopes and recurrence are set by the interface: /docs/administer/reviews.`,
    examples: [
      'review launch "Second quarter" --app 3b1e... --deadline 2027-06-30 --dry-run',
      'review launch "Second quarter" --app 3b1e... --app 77c0... --deadline 2027-06-30T17:00:00Z',
    ],
  })
    .argument('<name>', 'name shown to people')
    .addOption(
      namedOption('app', '--app <id>', 'review this app; may be repeated')
        .argParser(collect)
        .makeOptionMandatory(),
    )
    .requiredOption('--deadline <moment>', 'deadline for decisions, such as 2027-06-30T17:00:00Z')
    .addOption(
      new Option('--type <type>', 'review what accounts hold, or the accounts')
        .choices(REVIEW_TYPES)
        .default('ENTITLEMENTS'),
    )
    .addOption(
      new Option('--reviewers <kind>', 'who decides')
        .choices(REVIEWER_KINDS.filter((one) => one !== 'NAMED'))
        .default('MANAGERS'),
    )
    .addOption(
      new Option(
        '--second-reviewers <kind>',
        'who confirms access that is kept despite a red hint; default: nobody',
      ).choices(SECOND_KINDS.filter((one) => one !== 'NAMED')),
    )
    .addOption(
      new Option('--on-deadline <what>', 'what happens to undecided lines')
        .choices(ON_DEADLINE)
        .default('LEAVE'),
    )
    .option('--dry-run', 'only report what would be reviewed')
    .description('start an access review of some apps')
    .action(async (name, flags) => (await import('./operator/reviews.ts')).launch(name, flags))
}

function addEvidence(review: Command): void {
  helped(askingHost(review.command('evidence')), {
    notes: `Works during a review too: the evidence then shows its state at one time, and states that. The received file is
verified, and the fingerprint of the key is printed: give it to those who verify the file, through another channel.`,
    examples: [
      'review evidence 5f0c...',
      'review evidence 5f0c... --out quarter.jsonl --page quarter.html --force',
    ],
  })
    .addArgument(namedArgument('review', '<id>', ID))
    .option('--out <file>', 'file to write; default: keyway-review-ID.jsonl here')
    .option('--page <file>', PAGE)
    .option('--force', 'replace existing files')
    .option('--dry-run', 'only report which file would be written, and about what')
    .description('write signed evidence of an access review to a file')
    .action(async (id, flags) => (await import('./evidence.ts')).evidence(id, flags))

  helped(answering(review.command('verify')), {
    notes: `Needs no host and no database. keyway review evidence prints the fingerprint, and the host shows it at
/.well-known/keyway-evidence-keys. Without Keyway, use verify_evidence.py of the page /docs/reference/evidence.`,
    examples: [
      'review verify keyway-review-5f0c.jsonl --key 9d2a...',
      'review verify keyway-access-0b77.jsonl --key 9d2a... --page access.html',
    ],
  })
    .argument('<file>', 'file with evidence of a review, an offboarding, or a person’s access')
    .requiredOption(
      '--key <key>',
      'fingerprint of the key, the key as 64 hex digits, or a PEM file',
    )
    .option('--page <file>', PAGE)
    .description('check that evidence is what was signed, and report changes')
    .action(async (file, flags) => (await import('./evidence.ts')).verify(file, flags))
}
