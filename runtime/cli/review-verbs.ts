/** Verbs for operators about access reviews and their evidence. */
import { type Command, Option } from 'commander'
import { REVIEW_TYPES } from '../contract/models/access-review.ts'
import { ON_DEADLINE, REVIEWER_KINDS, SECOND_KINDS } from '../contract/models/review-item.ts'
import { namedArgument, namedOption } from './terminal/named.ts'
import { answering, askingHost, collect, helped } from './terminal/options.ts'
import { parseWholeNumber } from './terminal/whole-number.ts'

const ID = 'id of the access review, see keyway review list'
const PAGE = 'also write the page that it has for people to read'

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
    .option('--limit <number>', 'how many at most, up to 100', parseWholeNumber, 50)
    .description('list access reviews, newest first')
    .action(async (flags) => (await import('./operator/reviews.ts')).list(flags))

  helped(askingHost(review.command('show')), { examples: ['review show 5f0c...'] })
    .addArgument(namedArgument('review', '<id>', ID))
    .description('show how far an access review is, app by app, and why one does not go on')
    .action(async (id, flags) => (await import('./operator/reviews.ts')).show(id, flags))
}

function addLaunch(review: Command): void {
  helped(askingHost(review.command('launch')), {
    notes: `An app starts from its last complete sync; where that is too old, a fresh one is begun and the review waits for it.
NAMED reviewers, scopes and recurrence are set by the interface: /docs/administer/reviews.`,
    examples: [
      'review launch "Second quarter" --app 3b1e... --deadline 2027-06-30 --dry-run',
      'review launch "Second quarter" --app 3b1e... --app 77c0... --deadline 2027-06-30T17:00:00Z',
    ],
  })
    .argument('<name>', 'what people know it by')
    .addOption(
      namedOption('app', '--app <id>', 'review this app; may stand several times')
        .argParser(collect)
        .makeOptionMandatory(),
    )
    .requiredOption('--deadline <moment>', 'until when people decide, such as 2027-06-30T17:00:00Z')
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
        'who confirms what is kept in spite of a red hint; default: nobody',
      ).choices(SECOND_KINDS.filter((one) => one !== 'NAMED')),
    )
    .addOption(
      new Option('--on-deadline <what>', 'what becomes of lines that nobody has decided')
        .choices(ON_DEADLINE)
        .default('LEAVE'),
    )
    .option('--dry-run', 'only say what would be reviewed')
    .description('have people decide who keeps what they hold in some apps')
    .action(async (name, flags) => (await import('./operator/reviews.ts')).launch(name, flags))
}

function addEvidence(review: Command): void {
  helped(askingHost(review.command('evidence')), {
    notes: `Also while decisions come in: it then is the review at one moment, and says so. What was received is verified, and the
fingerprint of the key is printed: give it to those who are to verify the file, by another way than the file.`,
    examples: [
      'review evidence 5f0c...',
      'review evidence 5f0c... --out quarter.jsonl --page quarter.html --force',
    ],
  })
    .addArgument(namedArgument('review', '<id>', ID))
    .option('--out <file>', 'file to write; default: keyway-review-ID.jsonl here')
    .option('--page <file>', PAGE)
    .option('--force', 'replace files that are there')
    .option('--dry-run', 'only say which file would be written, of what')
    .description('write signed evidence of an access review into a file')
    .action(async (id, flags) => (await import('./evidence.ts')).evidence(id, flags))

  helped(answering(review.command('verify')), {
    notes: `Needs no host and no database. The fingerprint is what keyway review evidence printed, and what the host shows at
/.well-known/keyway-evidence-keys. Without Keyway: verify_evidence.py of the page /docs/reference/evidence.`,
    examples: [
      'review verify keyway-review-5f0c.jsonl --key 9d2a...',
      'review verify keyway-access-0b77.jsonl --key 9d2a... --page access.html',
    ],
  })
    .argument('<file>', 'file of evidence: of a review, an offboarding, or a person’s access')
    .requiredOption(
      '--key <key>',
      'fingerprint of the key, the key as 64 hex digits, or a PEM file',
    )
    .option('--page <file>', PAGE)
    .description('say whether evidence is what was signed, and what was done to it')
    .action(async (file, flags) => (await import('./evidence.ts')).verify(file, flags))
}
