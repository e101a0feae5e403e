/** The words of the overview, of the log, and of what all changes have: in one place, so that they can be moved or translated together. */
import type { AttentionKind } from '../../../contract/endpoints/overview.ts'
import { counted } from '../../frame/words.ts'

export const CHANGE_WORDS = {
  whatChanges: 'What will be different',
  nothingDifferent: 'Nothing: it is so already.',
  why: 'Why',
  whyHelp: 'It stands in the history and in the activity log.',
  sayWhy: 'Say why.',
  changedSince:
    'What you filled in is not what this page showed before. Look at what will be different now.',
  cancel: 'Cancel',
  back: 'Back',
  notDone: 'It was not done',
  notPossible: 'It cannot be done now',
} as const

export const HOME_WORDS = {
  title: (bad: number, waits: number): string =>
    bad + waits === 0
      ? 'Nothing needs attention'
      : bad === 0
        ? `${counted(waits, 'thing')} ${waits === 1 ? 'waits' : 'wait'} for a decision`
        : `${counted(bad, 'thing')} ${bad === 1 ? 'fails' : 'fail'}${waits > 0 ? `, ${waits} more ${waits === 1 ? 'waits' : 'wait'}` : ''}`,
  plainTitle: 'Console',
  plainLead: 'What your roles let you see.',
  attention: 'Needs attention',
  worstFirst: 'Worst first',
  fine: 'Everything works',
  fineText: 'What fails, or waits for you, appears here.',
  what: 'What',
  since: 'Since',
  action: 'Action',
  look: 'Look',
  turns: 'Whose turn it is',
  noTurns: 'Nobody has an open task',
  noTurnsText: 'Who has to decide or do something appears here.',
  who: 'Who',
  tasks: 'Tasks',
  oldest: 'Oldest',
  calls: 'Calls per hour',
  callsNote: 'the last 24 hours, by whose fault a failure was',
  callsText: (all: string, failed: string) =>
    `${all} calls, of which ${failed} failed. The table below has every hour.`,
  hour: 'Hour',
  asTable: 'As a table',
  answered: 'Answered',
  byCaller: 'The caller failed',
  byProvider: 'The provider failed',
  byConnector: 'The connector failed',
  byUs: 'A setting, or Keyway',
  noCalls: 'No calls yet',
  noCallsText: 'Calls of connectors are counted here, minute by minute, for 30 days.',
  openRequests: 'Open requests',
  oldestAge: (age: string) => `oldest ${age}`,
  ending: 'Ends within 7 days',
  apps: 'Apps in sync',
  appsTroubled: (count: number) => `${count} in trouble`,
  allFine: 'none in trouble',
  hosts: 'Hosts',
  hostsOf: (all: number) => `of ${all} live`,
  generation: (number: number) => `generation ${number}`,
  connectors: 'Connectors serving',
  of: (all: number) => `of ${all}`,
  failed: 'Failed',
  waits: 'Waits',
  kinds: {
    connector_quarantined: (name) => `Connector ${name} is quarantined`,
    connector_broken: (name) => `Connector ${name} cannot be served`,
    sync_stopped: (name) => `Sync of ${name} stopped`,
    sync_failed: (name) => `Sync of ${name} failed`,
    app_away: (name) => `${name} does not answer`,
    webhook_failing: (name) => `Webhook “${name}” fails`,
    host_problem: (name) => `Host ${name.slice(0, 8)} does not serve all that is installed`,
    removal_failed: (name) => `Access to ${name} has ended and was not removed`,
    connector_suspect: (name) => `Connector ${name} is watched`,
    version_waits: (name) => `${name} is kept and does not serve`,
  } satisfies Record<AttentionKind, (name: string) => string>,
} as const

export const LOG_WORDS = {
  title: 'Activity log',
  brokenTitle: 'The activity log was changed',
  lead: (count: string) =>
    `${count} entries. Each is tied to the one before it, so that a change of an earlier one shows.`,
  whole: (count: number) => `The newest ${counted(count, 'entry', 'entries')} fit`,
  wholeText: (head: string, waiting: number) =>
    `Up to ${head}…${waiting > 0 ? `; ${waiting} more wait to be chained` : ''}. keyway audit verify looks at all of them.`,
  broken: 'An entry does not fit the one before it',
  brokenText: (event: string, at: string) =>
    `${event} of ${at}: it, or what stood before it, was changed in the database. Run keyway audit verify, and compare with a backup.`,
  list: 'Entries',
  event: 'Event',
  who: 'Who',
  keyway: 'Keyway',
  target: 'What it was done to',
  details: 'Details',
  failed: 'Failed',
  since: 'From',
  until: 'To',
  search: 'Search',
  clear: 'Clear',
  none: 'Nothing was done yet',
  noneText: 'Everything that people and Keyway do is recorded here.',
  noneFound: 'Nothing found',
  noneFoundText: 'No entry is of that type and time.',
  showAll: 'Show all',
} as const
