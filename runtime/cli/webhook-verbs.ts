/** Verbs for operators about inline webhooks. */
import { type Command, Option } from 'commander'
import { INLINE_WEBHOOK_TYPES } from '../contract/models/inline-webhook.ts'
import { namedArgument } from './terminal/named-arguments.ts'
import { askingHost, helped } from './terminal/options.ts'

const ID = 'id of the webhook, see keyway webhooks list'

const HEADERS = `The file of --headers holds { "Authorization": "Bearer ..." }; the values are stored sealed and never shown.
Private addresses, and http, need a grant: KEYWAY_PRIVATE_EGRESS='webhooks=10.0.0.5:443'.`

const dry = (command: Command): Command =>
  askingHost(command).option('--dry-run', 'only show what would change')

/** Adds the verbs. */
export function addWebhookVerbs(program: Command): void {
  program.commandsGroup('Webhooks:')
  const webhooks = program.command('webhooks').description('the inline webhooks of the host')
  addLooks(webhooks)
  addChanges(webhooks)
}

function addLooks(webhooks: Command): void {
  helped(askingHost(webhooks.command('list')), { examples: ['webhooks list'] })
    .description('list inline webhooks, and whether they work')
    .action(async (flags) => (await import('./operator/webhooks.ts')).list(flags))

  helped(askingHost(webhooks.command('show')), { examples: ['webhooks show 5f0c...'] })
    .addArgument(namedArgument('webhook', '<id>', ID))
    .description('show an inline webhook; the values of its headers are never shown')
    .action(async (id, flags) => (await import('./operator/webhooks.ts')).show(id, flags))

  helped(askingHost(webhooks.command('test')), {
    notes: 'There is no --dry-run: the only effect is a sample, which is marked as a test.',
    examples: ['webhooks test 5f0c...'],
  })
    .addArgument(namedArgument('webhook', '<id>', ID))
    .description('send a sample, and report the reply')
    .action(async (id, flags) => (await import('./operator/webhooks.ts')).tryOut(id, flags))
}

function addChanges(webhooks: Command): void {
  helped(dry(webhooks.command('add')), {
    notes: `${HEADERS}

It prints the signing secret once.`,
    examples: ['webhooks add --type PROVISION --to https://hooks.acme.example/give "Give access"'],
  })
    .argument('<name>', 'name for people to choose it by')
    .addOption(
      new Option('--type <type>', 'when it is called')
        .choices(INLINE_WEBHOOK_TYPES)
        .makeOptionMandatory(),
    )
    .requiredOption('--to <address>', 'address that receives it')
    .option('--headers <file>', 'JSON with additional headers')
    .option('--description <text>', 'purpose of the webhook')
    .description('create an inline webhook')
    .action(async (name, flags) => (await import('./operator/webhooks.ts')).add(name, flags))

  helped(dry(webhooks.command('update')), {
    notes: `${HEADERS}
A header with null is removed; the others are kept. With --new-secret, deliveries are also signed with the old secret
for a day.`,
    examples: ['webhooks update 5f0c... --disable', 'webhooks update 5f0c... --new-secret'],
  })
    .addArgument(namedArgument('webhook', '<id>', ID))
    .option('--name <name>', 'name for people to choose it by')
    .option('--to <address>', 'address that receives it')
    .option('--headers <file>', 'JSON with changes to its headers')
    .option('--description <text>', 'purpose of the webhook')
    .option('--enable', 'enable it')
    .addOption(new Option('--disable', 'disable it').conflicts('enable'))
    .option('--new-secret', 'sign with a new secret, and print it')
    .description('change an inline webhook')
    .action(async (id, flags) => (await import('./operator/webhooks.ts')).update(id, flags))

  helped(dry(webhooks.command('remove')), { examples: ['webhooks remove 5f0c... --dry-run'] })
    .addArgument(namedArgument('webhook', '<id>', ID))
    .description('delete an inline webhook that nothing refers to')
    .action(async (id, flags) => (await import('./operator/webhooks.ts')).remove(id, flags))
}
