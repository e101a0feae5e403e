/** Verbs for operators about inline webhooks. */
import { type Command, Option } from 'commander'
import { INLINE_WEBHOOK_TYPES } from '../contract/models/inline-webhook.ts'
import { namedArgument } from './terminal/named.ts'
import { askingHost, helped } from './terminal/options.ts'

const ID = 'id of the webhook, see keyway webhooks list'

const HEADERS = `The file of --headers holds { "Authorization": "Bearer ..." }; the values are kept sealed and never shown.
Private addresses, and http, need a grant: KEYWAY_PRIVATE_EGRESS='webhooks=10.0.0.5:443'.`

const dry = (command: Command): Command =>
  askingHost(command).option('--dry-run', 'only say what would be different')

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
    .description('show an inline webhook; what its headers hold is shown to nobody')
    .action(async (id, flags) => (await import('./operator/webhooks.ts')).show(id, flags))

  helped(askingHost(webhooks.command('test')), {
    notes: 'There is no --dry-run: what it does is to send a sample, marked as a test.',
    examples: ['webhooks test 5f0c...'],
  })
    .addArgument(namedArgument('webhook', '<id>', ID))
    .description('send a sample, and say how it was answered')
    .action(async (id, flags) => (await import('./operator/webhooks.ts')).tryOut(id, flags))
}

function addChanges(webhooks: Command): void {
  helped(dry(webhooks.command('add')), {
    notes: `${HEADERS}

It prints what deliveries are signed with, once.`,
    examples: ['webhooks add --type PROVISION --to https://hooks.acme.example/give "Give access"'],
  })
    .argument('<name>', 'what people choose it by')
    .addOption(
      new Option('--type <type>', 'what it is asked, or told')
        .choices(INLINE_WEBHOOK_TYPES)
        .makeOptionMandatory(),
    )
    .requiredOption('--to <address>', 'where it is sent')
    .option('--headers <file>', 'JSON with headers that go with it')
    .option('--description <text>', 'what it is for')
    .description('make an inline webhook')
    .action(async (name, flags) => (await import('./operator/webhooks.ts')).add(name, flags))

  helped(dry(webhooks.command('update')), {
    notes: `${HEADERS}
A header with null is taken away; the others stay. With --new-secret, deliveries are signed with the old one, too,
for a day.`,
    examples: ['webhooks update 5f0c... --disable', 'webhooks update 5f0c... --new-secret'],
  })
    .addArgument(namedArgument('webhook', '<id>', ID))
    .option('--name <name>', 'what people choose it by')
    .option('--to <address>', 'where it is sent')
    .option('--headers <file>', 'JSON with changes of its headers')
    .option('--description <text>', 'what it is for')
    .option('--enable', 'send it')
    .addOption(new Option('--disable', 'send it no more').conflicts('enable'))
    .option('--new-secret', 'sign with a new secret, and print it')
    .description('change an inline webhook')
    .action(async (id, flags) => (await import('./operator/webhooks.ts')).update(id, flags))

  helped(dry(webhooks.command('remove')), { examples: ['webhooks remove 5f0c... --dry-run'] })
    .addArgument(namedArgument('webhook', '<id>', ID))
    .description('delete an inline webhook that nothing refers to')
    .action(async (id, flags) => (await import('./operator/webhooks.ts')).remove(id, flags))
}
