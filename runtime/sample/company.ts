/**
 * The sample company: thirty people of the sample directory, two apps that they use, and pending requests.
 * Plain data in wire form. Its user resolves names to ids.
 */
import { groupsOf, type Person, people } from './people.ts'
import type { SampleTenant } from './tenants.ts'

/** Number of the directory's people who work there. The heads of the departments come first. */
export const COMPANY_SIZE = 30

/** Resolves names to ids. */
export type Ids = {
  /** Returns the id of an email address. */
  user(email: string): { id: string }
  /** Returns the id of a group. */
  group(name: string): { id: string }
  /** Returns the id of a label within the app. */
  permission(label: string): { id: string }
  /** User who creates the company. */
  me: { id: string }
}

export type SampleApp = {
  tenant: SampleTenant
  name: string
  category: string
  description: string
  /** Body of `POST /appstore/apps`, without the app. */
  settings(ids: Ids): object
  /** Bodies of `POST /appstore/requestable_permissions`, without the app. */
  permissions(ids: Ids): { label: string; request_config?: object }[]
  /** Groups of the directory that can be requested. A sync creates permissions from them. */
  groups(ids: Ids): { name: string; request_config: Record<string, unknown> }[]
  /** Bodies of `POST /access_policies`, with the permissions of this app that they grant. */
  policies(ids: Ids): (object & { permissions: { id: string }[] })[]
  /** Bodies of `POST /appstore/pre_approval_rules`, without the app. */
  rules(ids: Ids): object[]
  requests(ids: Ids): SampleRequest[]
}

/** A request by a person for themselves. */
type SampleRequest = {
  asker: { id: string }
  permission: { id: string }
  /** As `access_length` of a request. */
  length: string
  why: string
  /** Person who has already approved the request. */
  approvedBy?: { id: string }
}

type SampleCompany = {
  /** File for the import of people. */
  csv: string
  /** Additional roles of people. */
  roles: { email: string; role: string }[]
  apps: SampleApp[]
  /** A separation-of-duties rule over two apps. Some of the people break it. */
  duties: {
    name: string
    description: string
    left: { app: string; label: string }
    /** The app itself. */
    right: { app: string }
  }
  /** A review that begins after the first sync has ended. */
  review: {
    name: string
    /** Number of days from now until its deadline. */
    days: number
    /** Email address of its owner. */
    owner: string
    /** Names of the apps. */
    apps: string[]
  }
}

export function sampleCompany(): SampleCompany {
  const staff = people().slice(0, COMPANY_SIZE)
  const head = (department: string) => emailOf(staff.find((one) => one.department === department))
  const member = (department: string) =>
    emailOf(staff.findLast((one) => one.department === department && one.active))
  return {
    csv: csvOf(staff),
    roles: [
      { email: head('Engineering'), role: 'App Admin' },
      { email: head('Design'), role: 'App Admin' },
      { email: head('Finance'), role: 'Auditor' },
      { email: head('People'), role: 'Read Only Admin' },
      { email: head('Legal'), role: 'Access Review Administrator' },
      { email: head('Support'), role: 'AppStore Read Only Admin' },
    ],
    apps: [designStudio(head, member), warehouse(head, member)],
    duties: {
      name: 'On call, or in design',
      description: 'Who can change numbers at night does not also draw the charts',
      left: { app: 'Data Warehouse', label: 'On Call' },
      right: { app: 'Design Studio' },
    },
    review: {
      name: 'Who uses the Data Warehouse',
      days: 30,
      owner: head('Legal'),
      apps: ['Data Warehouse'],
    },
  }
}

type OfDepartment = (department: string) => string

function designStudio(head: OfDepartment, member: OfDepartment): SampleApp {
  return {
    tenant: 'design',
    name: 'Design Studio',
    category: 'Design & Creativity',
    description: 'Where designs are drawn and talked about',
    settings: ({ user, group }) => ({
      custom_request_instructions: 'Viewers need no licence; say what you want to draw.',
      request_flow: {
        discoverability: 'FULL',
        require_manager_approval: true,
        approvers: { users: [user(head('Design'))], groups: [group('Design')] },
        admins: { users: [user(head('Design'))] },
      },
      provisioning: {
        groups_provisioning: 'GROUPS_AND_VISIBLE',
        time_based_access: ['7 days', '30 days', '90 days', 'Unlimited'],
        allow_multiple_permission_selection: true,
      },
    }),
    permissions: () => [
      { label: 'Editor', request_config: { appstore_visibility: 'VISIBLE' } },
      { label: 'Viewer', request_config: { appstore_visibility: 'VISIBLE' } },
    ],
    groups: ({ me }) => [
      {
        name: 'Office Move 2027',
        request_config: {
          appstore_visibility: 'VISIBLE',
          request_approval_config: {
            request_approval_config_override: true,
            approvers: { users: [me.id], groups: [] },
          },
          request_fulfillment_config: {
            time_based_access_override: true,
            time_based_access: ['2 hours', '1 day'],
          },
        },
      },
    ],
    policies: () => [],
    rules: ({ group, permission }) => [
      {
        justification: 'Designers draw',
        preapproved_groups: [group('Design')],
        preapproved_permissions: [permission('Editor')],
        time_based_access: ['90 days', 'Unlimited'],
      },
    ],
    requests: ({ user, permission }) => [
      {
        asker: user(member('Marketing')),
        permission: permission('Editor'),
        length: '30 days',
        why: 'I draw the new campaign',
      },
      {
        asker: user(member('Sales')),
        permission: permission('Viewer'),
        length: '7 days',
        why: 'I want to see what will be sold',
        approvedBy: user(head('Sales')),
      },
    ],
  }
}

function warehouse(head: OfDepartment, member: OfDepartment): SampleApp {
  return {
    tenant: 'warehouse',
    name: 'Data Warehouse',
    category: 'Developers',
    description: 'Numbers of every department',
    settings: ({ me, user, group }) => ({
      request_flow: {
        discoverability: 'FULL',
        allowed_groups: {
          type: 'SPECIFIED_GROUPS',
          groups: [group('Engineering'), group('Finance')],
        },
        require_additional_approval: true,
        approvers: { users: [me] },
        approvers_stage_2: { users: [user(head('Finance'))] },
        admins: { users: [user(head('Engineering'))], groups: [group('On Call')] },
      },
      provisioning: {
        groups_provisioning: 'GROUPS_AND_VISIBLE',
        time_based_access: ['8 hours', '1 day', '14 days', '30 days'],
        manual_steps_needed: true,
        custom_provisioning_instructions:
          'In the Data Warehouse, open Groups, and add the person to the group that is named like the permission. To take it back, remove the person from it.',
      },
    }),
    permissions: ({ user }) => [
      { label: 'Read reports', request_config: { appstore_visibility: 'VISIBLE' } },
      {
        label: 'Administer',
        request_config: {
          appstore_visibility: 'VISIBLE',
          request_approval_config: {
            request_approval_config_override: true,
            approvers: { users: [user(head('Engineering'))] },
          },
          request_fulfillment_config: {
            time_based_access_override: true,
            time_based_access: ['2 hours', '8 hours'],
          },
        },
      },
    ],
    groups: () => [{ name: 'On Call', request_config: { appstore_visibility: 'HIDDEN' } }],
    policies: ({ permission }) => [
      {
        name: 'Support is on call',
        business_justification: 'People in Support answer at night',
        status: 'PUBLISHED',
        is_enabled: true,
        access_condition: {
          attribute: 'identity.custom_attributes["department"]',
          equals: 'Support',
        },
        permissions: [permission('On Call')],
      },
    ],
    rules: () => [],
    requests: ({ user, permission }) => [
      {
        asker: user(member('Finance')),
        permission: permission('Read reports'),
        length: '1 day',
        why: 'The figures of the quarter',
      },
      {
        asker: user(head('Engineering')),
        permission: permission('Read reports'),
        length: '8 hours',
        why: 'I look for what made the reports slow',
      },
      {
        asker: user(member('Engineering')),
        permission: permission('Administer'),
        length: '8 hours',
        why: 'I move the tables to the new disks',
        approvedBy: user(head('Engineering')),
      },
    ],
  }
}

const emailOf = (person: Person | undefined): string => person?.email ?? ''

/**
 * Returns the people as a CSV file, in the form of a directory's export. No value contains a comma or a
 * quote.
 */
function csvOf(staff: Person[]): string {
  const byId = new Map(staff.map((person) => [person.id, person]))
  const groups = Object.entries(groupsOf(staff))
  const rows = staff.map((person) => [
    person.email,
    person.givenName,
    person.familyName,
    person.active ? 'ACTIVE' : 'SUSPENDED',
    person.managerId === null ? '' : emailOf(byId.get(person.managerId)),
    groups
      .filter(([, members]) => members.includes(person))
      .map(([name]) => name)
      .join(';'),
    person.title,
    person.department,
  ])
  const head = ['email', 'given_name', 'family_name', 'status', 'manager_email', 'groups']
  return [[...head, 'title', 'department'], ...rows].map((cells) => `${cells.join(',')}\n`).join('')
}
