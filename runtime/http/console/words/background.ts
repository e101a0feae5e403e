/** The words of the pages of webhooks and of the background: in one place, so that they can be moved or translated together. */
import { counted } from '../../frame/words.ts'

export const WEBHOOK_WORDS = {
  title: 'Webhooks',
  lead: 'Other systems that are asked, or told what happens.',
  name: 'Webhook',
  state: 'State',
  goesTo: 'Goes to',
  action: 'Action',
  works: 'Enabled',
  disabled: 'Disabled',
  failing: 'Fails',
  waiting: (count: string) => `${count} events wait`,
  enable: 'Enable',
  disable: 'Disable',
  remove: 'Delete',
  none: 'No webhooks',
  noneText: 'Make one with keyway webhook create: the answer shows once what it is signed with.',
} as const

export const WEBHOOK_CHANGE_WORDS = {
  enable: {
    title: 'Enable this webhook?',
    button: 'Enable',
    done: { en: 'It is enabled.', de: 'Eingeschaltet.' },
  },
  disable: {
    title: 'Disable this webhook?',
    lead: 'Nothing is sent to it until it is enabled again.',
    button: 'Disable',
    done: { en: 'It is disabled.', de: 'Ausgeschaltet.' },
  },
  remove: {
    title: 'Delete this webhook?',
    lead: 'Its address, headers and secret are forgotten.',
    button: 'Delete',
    done: { en: 'It is deleted.', de: 'Gelöscht.' },
  },
} as const

export const JOB_STATE_WORDS = {
  created: ['', 'clock', 'Waits'],
  retry: ['wait', 'clock', 'Waits for its next try'],
  active: ['busy', 'sync', 'Running'],
  completed: ['good', 'check', 'Done'],
  cancelled: ['', 'minus', 'Cancelled'],
  failed: ['bad', 'x', 'Failed'],
} as const

export const JOB_WORDS = {
  title: 'Background',
  lead: 'What the hosts do by themselves, and the hosts.',
  jobs: 'Jobs',
  jobsNote: 'the latest, newest first',
  job: 'Job',
  kind: 'Kind of work',
  any: 'Any',
  show: 'Show',
  state: 'State',
  created: 'Since',
  problem: 'Problem',
  tries: (count: number) => counted(count, 'more try', 'more tries'),
  hosts: 'Hosts',
  host: 'Host',
  seen: 'heard of before',
  live: 'Live',
  gone: 'Gone',
  generation: 'Generation',
  none: 'None',
  noneText: 'Nothing of that kind is there.',
} as const
