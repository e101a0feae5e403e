/** Mail through a real SMTP server: who receives which mail, and how failed deliveries are handled. */
import { readFileSync } from 'node:fs'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { mailServerOf } from '../../../runtime/config/mail-server.ts'
import { recordActivity } from '../../../runtime/core/kernel/audit/activity.ts'
import type { Letter } from '../../../runtime/core/kernel/context/post.ts'
import { mails } from '../../../runtime/database/schema/mail.ts'
import { users } from '../../../runtime/database/schema/people.ts'
import { accessRequests } from '../../../runtime/database/schema/requests.ts'
import { createPost } from '../../../runtime/mail/smtp.ts'
import { until } from '../../e2e/until.ts'
import { missing, type RealSystem, startSystem } from '../../real-systems/start.ts'
import {
  app,
  type CoreHost,
  domainOf,
  group,
  type Person,
  person,
  QUICK_PACE,
  startCore,
} from '../host.ts'
import { type Company, company } from '../requests/company.ts'

type Received = {
  tls: boolean
  user: string
  envelope: { from: string; to: string[] }
  from: string
  to: string
  subject: string
  messageId: string
  text: string
  html: string
  headers: Record<string, string>
  raw: string
}
type MailSystem = RealSystem & { port: number; tlsPort: number; ca: string; page: string }

const absent = missing('openssl')
const FROM = 'keyway@acme.example'
const ORIGIN = 'https://keyway.acme.example'
/** Timeout for a server that hangs, in milliseconds. */
const ANSWER_MS = 1500

describe.skipIf(absent !== null)(`mail${absent ? ` (${absent})` : ''}`, () => {
  let system: MailSystem
  let ca: string
  beforeAll(async () => {
    system = (await startSystem('mail')) as MailSystem
    ca = readFileSync(system.ca, 'utf8')
  })
  afterAll(() => system?.stop())

  const received = async (): Promise<Received[]> =>
    (await fetch(`${system.page}/messages`)).json() as Promise<Received[]>
  const setMode = (mode: string, more: { stage?: string; times?: number } = {}) =>
    fetch(`${system.page}/mode`, { method: 'PUT', body: JSON.stringify({ mode, ...more }) })
  beforeEach(async () => {
    await setMode('ok')
    await fetch(`${system.page}/messages`, { method: 'DELETE' })
  })

  describe('the connection to the server', () => {
    const postOf = (
      server: string,
      { password = 'mail-secret', from = FROM, trust = true } = {},
    ) => {
      const given = { server, password, from, publicUrl: ORIGIN, language: 'en' } as const
      const read = mailServerOf(given, (words) => {
        throw new Error(words)
      })
      if (!read) throw new Error('no mail server is running')
      return createPost(read, { answerMs: ANSWER_MS }, trust ? { ca } : {})
    }
    const starttls = () => `smtp://keyway@127.0.0.1:${system.port}`
    const letter = (to: string, more: Partial<Letter> = {}): Letter => ({
      ...{ to, subject: 'Grüße', text: 'Hello', html: '<p>Hello</p>', language: 'en' },
      messageId: 'one@acme.example',
      ...more,
    })

    test('is encrypted with STARTTLS or with implicit TLS', async () => {
      for (const server of [starttls(), `smtps://keyway@127.0.0.1:${system.tlsPort}`])
        expect(await postOf(server).send(letter('ada@acme.example'))).toEqual({ ok: true })
      const [first, second] = await received()
      for (const one of [first, second])
        expect(one).toMatchObject({
          ...{ tls: true, user: 'keyway', subject: 'Grüße', messageId: '<one@acme.example>' },
          envelope: { from: FROM, to: ['ada@acme.example'] },
        })
      expect(first?.raw).toContain('multipart/alternative')
      expect(first?.headers).toMatchObject({
        'auto-submitted': 'Auto-Submitted: auto-generated',
        'list-unsubscribe': `List-Unsubscribe: <${ORIGIN}/settings/personal>`,
      })
    })

    test('does not let a subject inject headers or recipients', async () => {
      const subject = 'Reports\r\nBcc: eve@acme.example\r\n\r\nbody'
      const sent = await postOf(starttls()).send(letter('ada@acme.example', { subject }))
      expect(sent).toEqual({ ok: true })
      const [one] = await received()
      expect(one?.envelope.to).toEqual(['ada@acme.example'])
      expect(one?.headers).not.toHaveProperty('bcc')
      expect(one?.subject).toContain('Reports Bcc: eve@acme.example')
    })

    test.each([
      ['unknown@acme.example', true, /no such user/],
      ['refuse@acme.example', true, /refused/],
      ['defer@acme.example', false, /try again later/],
      ['full@acme.example', false, /mailbox full/],
      ['busy@acme.example', false, /too busy/],
      ['drop@acme.example', false, /./],
      ['hang@acme.example', false, /did not answer in time/],
    ])('reports the failure for %s, as final: %s', async (to, ends, problem) => {
      expect(await postOf(starttls()).send(letter(to))).toEqual({
        ...{ ok: false, ends },
        problem: expect.stringMatching(problem),
      })
    })

    test.each(['connect', 'auth', 'mail', 'data'])(
      'times out when the server hangs at the stage %s, and keeps the mail',
      async (stage) => {
        await setMode('hang', { stage })
        expect(await postOf(starttls()).send(letter('ada@acme.example'))).toEqual({
          ...{ ok: false, ends: false },
          problem: expect.stringMatching(/did not answer in time/),
        })
      },
    )

    test.each(['connect', 'auth', 'mail'])(
      'keeps the mail when the server refuses at the stage %s',
      async (stage) => {
        await setMode('refuse', { stage })
        const sent = await postOf(starttls()).send(letter('ada@acme.example'))
        expect(sent).toMatchObject({ ok: false, ends: false })
      },
    )

    test('keeps the mail after a wrong password or sender, and does not reveal the password', async () => {
      const wrong = await postOf(starttls(), { password: 'wrong-secret' }).send(
        letter('a@b.example'),
      )
      expect(wrong).toMatchObject({ ok: false, ends: false })
      expect(JSON.stringify(wrong)).not.toContain('wrong-secret')
      const limited = `smtp://limited@127.0.0.1:${system.port}`
      const other = postOf(limited, { password: 'limited-secret' })
      expect(await other.send(letter('a@b.example'))).toMatchObject({ ok: false, ends: false })
    })

    test('sends neither mail nor password to a server whose certificate is not trusted', async () => {
      const sent = await postOf(starttls(), { trust: false }).send(letter('a@b.example'))
      expect(sent).toMatchObject({ ok: false, ends: false })
      const attempts = (await (await fetch(`${system.page}/attempts`)).json()) as {
        stage: string
      }[]
      expect(attempts.map(({ stage }) => stage)).not.toContain('auth')
    })
  })

  describe('a host', () => {
    let core: CoreHost
    let acme: Company
    let ada: Person
    let boss: Person
    let appId: string
    beforeAll(async () => {
      const server = {
        KEYWAY_PUBLIC_URL: `${ORIGIN}/`,
        KEYWAY_MAIL_SERVER: `smtp://keyway@127.0.0.1:${system.port}`,
        KEYWAY_MAIL_PASSWORD: 'mail-secret',
        KEYWAY_MAIL_FROM: `Keyway <${FROM}>`,
      }
      core = await startCore(server, {
        mailTrust: { ca },
        pace: { ...QUICK_PACE, answerMs: ANSWER_MS },
      })
      acme = company(core)
      ada = await person(core.db, 'ada@acme.example')
      boss = await person(core.db, 'boss@acme.example')
      await acme.setManager(ada.id, boss.id)
      appId = await acme.inStore(await app(core.db, 'Warehouse'), {
        require_manager_approval: true,
      })
    })
    afterAll(() => core?.stop())

    /** Waits until the mails of earlier tests have been sent. */
    beforeEach(async () => {
      await sweep()
      await until('no mail is due', async () => {
        const due = sql`ended_at is null and due_at <= now()`
        return (await core.db.$count(mails, due)) === 0
      })
      await fetch(`${system.page}/messages`, { method: 'DELETE' })
    })

    const to = async (email: string): Promise<Received[]> =>
      (await received()).filter(({ envelope }) => envelope.to.includes(email))
    const arrives = (email: string, subject: RegExp): Promise<Received> =>
      until(
        `a mail to ${email} arrives`,
        async () => (await to(email)).find((one) => subject.test(one.subject)) ?? null,
        30_000,
      )
    const ask = (who = ada, more: object = {}) =>
      acme.asked(who, {
        ...{ app_id: appId, business_justification: 'Month end', access_length: '8 hours' },
        ...more,
      })
    const choose = (who: Person, body: object) =>
      core.call('PATCH', '/users/current/settings', { token: who.token, body })
    /** Makes deferred mails due now. */
    const makeMailsDue = () =>
      core.db.update(mails).set({ dueAt: sql`now()` }).where(sql`ended_at is null`)
    const decide = async (requestId: string, action_type: string, reason = '') => {
      const { id } = await acme.openTask(requestId)
      const body = { action_type, reason }
      return core.call('POST', `/tasks/${id}/perform-action`, { token: boss.token, body })
    }

    test('mails the approver a link to the task, and the requester the decision', async () => {
      const request = await ask()
      const task = await acme.openTask(request)
      const mail = await arrives('boss@acme.example', /asks for/)
      expect(mail).toMatchObject({
        subject: 'ada Test asks for access to Warehouse',
        from: `"Keyway" <${FROM}>`,
      })
      for (const said of [mail.text, mail.html]) {
        expect(said).toContain(`${ORIGIN}/inbox/${task.id}`)
        expect(said).toContain('Month end')
      }
      await decide(request, 'deny', 'Ask for less')
      const answer = await arrives('ada@acme.example', /^Denied: access to Warehouse$/)
      expect(answer.text).toContain('“Ask for less”')
      expect(answer.text).toContain(`${ORIGIN}/access/requests/${request}`)
    })

    test('drops a mail about a task that was decided before the mail was sent', async () => {
      await choose(boss, { mail: 'DIGEST' })
      const request = await ask()
      await until('the mail is queued', async () => (await waiting(boss)).length > 0)
      await decide(request, 'deny', 'no')
      await makeMailsDue()
      await until('the mail is dropped', async () => (await waiting(boss)).length === 0)
      expect(await to('boss@acme.example')).toEqual([])
      await choose(boss, { mail: 'AT_ONCE' })
    })

    const waiting = (who: Person) =>
      core.db.select().from(mails).where(sql`${mails.userId} = ${who.id} and ended_at is null`)

    test('sends a digest in the person’s language, and nothing to a person who chose NONE', async () => {
      await choose(boss, { mail: 'DIGEST', language: 'de' })
      await choose(ada, { mail: 'NONE' })
      const [one, two] = [
        await ask(),
        await ask(await person(core.db, 'x@acme.example').then(managed)),
      ]
      await until('both mails are queued', async () => (await waiting(boss)).length === 2)
      await makeMailsDue()
      const mail = await arrives('boss@acme.example', /^2 Nachrichten von Keyway$/)
      for (const id of [one, two]) expect(mail.text).toContain((await acme.openTask(id)).id)
      expect(mail.html).toContain('lang="de"')
      expect(await to('ada@acme.example')).toEqual([])
      await choose(boss, { mail: 'AT_ONCE', language: null })
      await choose(ada, { mail: 'AT_ONCE' })
    })

    const managed = async (who: Person): Promise<Person> => {
      await acme.setManager(who.id, boss.id)
      return who
    }

    test('resends the same message after a deferral and after a lost reply', async () => {
      await setMode('lost', { times: 1 })
      await ask()
      const first = await until(
        'the server has received the mail',
        async () => (await to('boss@acme.example'))[0] ?? null,
      )
      await until(
        'the mail waits for its second attempt',
        async () => (await waiting(boss))[0]?.attempts === 1,
      )
      const { body: status } = await core.call('GET', '/operator/mail')
      expect(status).toMatchObject({ failing: 1, from: FROM })
      await setMode('defer', { times: 1 })
      await makeMailsDue()
      await until(
        'the mail waits for its third attempt',
        async () => (await waiting(boss))[0]?.attempts === 2,
      )
      await makeMailsDue()
      await until('the mail is sent', async () => (await waiting(boss)).length === 0)
      const all = await to('boss@acme.example')
      expect(all.map(({ messageId }) => messageId)).toEqual([first.messageId, first.messageId])
    })

    test('retries mail on which the server hangs, still sends the rest, and reports the failure', async () => {
      const slow = await person(core.db, 'hang@acme.example')
      const other = await person(core.db, 'y@acme.example')
      await acme.setManager(other.id, slow.id)
      await ask(other)
      await until('the mail is queued', async () => (await waiting(slow)).length > 0)
      await ask()
      await arrives('boss@acme.example', /asks for/)
      await until(
        'the mail waits for its second attempt',
        async () => (await waiting(slow))[0]?.attempts === 1,
      )
      const { body: status } = await core.call('GET', '/operator/mail')
      expect(status).toMatchObject({ failing: 1, refused: expect.any(Array) })
      expect(status.problem).toContain('did not answer in time')
      const { body: doctor } = await core.call('GET', '/operator/doctor')
      const finding = doctor.findings.find(({ check }: { check: string }) => check === 'mail')
      expect(finding).toMatchObject({ state: 'act' })
      await makeMailsDue()
      await until(
        'the mail waits for its third attempt',
        async () => (await waiting(slow))[0]?.attempts === 2,
      )
      const email = 'works@acme.example'
      await core.db.update(users).set({ email }).where(eq(users.id, slow.id))
      await makeMailsDue()
      await arrives(email, /asks for/)
      expect(await waiting(slow)).toEqual([])
    })

    test('checks before each message whether the person still receives mail', async () => {
      const leaver = await person(core.db, 'leaver@acme.example')
      await choose(leaver, { mail: 'DIGEST' })
      for (const email of ['one@acme.example', 'two@acme.example']) {
        const member = await person(core.db, email)
        await acme.setManager(member.id, leaver.id)
        await ask(member)
      }
      await until('both mails are queued', async () => (await waiting(leaver)).length === 2)
      await setMode('hang', { stage: 'connect', times: 1 })
      await choose(leaver, { mail: 'AT_ONCE' })
      await makeMailsDue()
      const isBegun = async () =>
        (await waiting(leaver)).some(({ messageId }) => messageId !== null)
      await until('the first mail is being sent', isBegun)
      await core.db.update(users).set({ status: 'SUSPENDED' }).where(eq(users.id, leaver.id))
      await until('the second mail is dropped', async () => (await waiting(leaver)).length < 2)
      await makeMailsDue()
      await until('the first mail is dropped', async () => (await waiting(leaver)).length === 0)
      expect(await to('leaver@acme.example')).toEqual([])
    })

    test('sends all queued mail once a server that hung answers again', async () => {
      await setMode('hang', { stage: 'connect' })
      await ask()
      const emails = Array.from({ length: 6 }, (_, at) => `waits-${at}@acme.example`)
      const all = [boss]
      for (const email of emails) {
        const one = await person(core.db, email)
        const member = await person(core.db, `of-${email}`)
        await acme.setManager(member.id, one.id)
        await ask(member)
        all.push(one)
      }
      const tried = async (one: Person) => (await waiting(one)).some(({ attempts }) => attempts > 0)
      await until('every mail has been tried once', async () =>
        (await Promise.all(all.map(tried))).every(Boolean),
      )
      expect(await received()).toEqual([])
      await setMode('ok')
      await makeMailsDue()
      await Promise.all(['boss@acme.example', ...emails].map((email) => arrives(email, /asks for/)))
    })

    test('gives up on mail that is refused permanently, and reports it to the operator', async () => {
      const gone = await person(core.db, 'unknown@acme.example')
      await core.db.update(users).set({ managerId: gone.id }).where(eq(users.id, ada.id))
      await ask()
      const { refused } = await until('the mail is refused', async () => {
        const { body } = await core.call('GET', '/operator/mail')
        return body.refused.length > 0 ? body : null
      })
      expect(refused[0]).toMatchObject({ email: 'unknown@acme.example', kind: 'waits' })
      expect(refused[0].problem).toContain('no such user')
      const { body: doctor } = await core.call('GET', '/operator/doctor')
      const finding = doctor.findings.find(({ check }: { check: string }) => check === 'mail')
      expect(finding).toMatchObject({ state: 'look' })
      await core.db.update(users).set({ managerId: boss.id }).where(eq(users.id, ada.id))
    })

    test('sends nothing to its own sender address', async () => {
      const loop = await person(core.db, `Keyway+x@acme.example`)
      await core.db.update(users).set({ managerId: loop.id }).where(eq(users.id, ada.id))
      await ask()
      const [row] = await until('the mail is refused', async () => {
        const rows = await core.db.select().from(mails).where(eq(mails.userId, loop.id))
        return rows[0]?.outcome ? rows : null
      })
      expect(row).toMatchObject({
        outcome: 'REFUSED',
        problem: expect.stringContaining('sender’s address'),
      })
      await core.db.update(users).set({ managerId: boss.id }).where(eq(users.id, ada.id))
    })

    test('mails the holder when access is given, and once before it ends', async () => {
      const mine = await acme.inStore(await app(core.db, 'Notes'), {
        require_manager_approval: true,
      })
      const request = await ask(ada, { app_id: mine, access_length: '30 days' })
      await decide(request, 'approve')
      await acme.settle(request, 'complete')
      await acme.reaches(request, 'COMPLETED')
      await arrives('ada@acme.example', /^Given: access to Notes$/)
      const soon = sql`now() + interval '2 days'`
      await core.db
        .update(accessRequests)
        .set({ expiresAt: soon, wakeAt: soon })
        .where(eq(accessRequests.id, request))
      await sweep()
      const mail = await arrives('ada@acme.example', /^Ends on/)
      expect(mail.text).toContain(`${ORIGIN}/access/request?app_id=${mine}`)
      await sweep()
      const queued = await core.db.select().from(mails).where(eq(mails.about, request))
      expect(queued.filter(({ kind }) => kind === 'ends')).toHaveLength(1)
    })

    test('mails a revocation with its reason once to the holder and once to the requester', async () => {
      const mine = await acme.inStore(await app(core.db, 'Vault'), {
        require_manager_approval: true,
      })
      const carl = await person(core.db, 'carl@acme.example').then(managed)
      const request = await ask(ada, { app_id: mine, target_user_id: carl.id })
      await decide(request, 'approve')
      await acme.settle(request, 'complete')
      await acme.reaches(request, 'COMPLETED')
      const revoked = await core.call('POST', `/appstore/access_requests/${request}/revoke`, {
        body: { reason: 'The laptop was <stolen>' },
      })
      expect(revoked.status).toBe(204)
      for (const [email, whose] of [
        ['carl@acme.example', /revoked access to Vault\./],
        ['ada@acme.example', /revoked access to Vault of carl Test\./],
      ] as const) {
        const mail = await arrives(email, /^Revoked: access to Vault$/)
        expect(mail.text).toMatch(whose)
        expect(mail.text).toContain('“The laptop was <stolen>”')
        expect(mail.html).toContain('The laptop was &lt;stolen&gt;')
        for (const said of [mail.text, mail.html])
          expect(said).toContain(`${ORIGIN}/access/requests/${request}`)
      }
      // The person who removes it by hand gets a different mail, and no one gets two.
      await acme.settle(request, 'complete')
      await acme.reaches(request, 'REVERTED')
      const rows = await until('the mails of the request have an outcome', async () => {
        const queued = await core.db.select().from(mails).where(eq(mails.about, request))
        const revokedOnes = queued.filter(({ kind }) => kind === 'revoked')
        return revokedOnes.every(({ outcome }) => outcome !== null) && revokedOnes
      })
      expect(rows.map(({ userId, outcome }) => [userId, outcome]).sort()).toEqual(
        [
          [ada.id, 'SENT'],
          [carl.id, 'SENT'],
        ].sort(),
      )
    })

    test('drops the expiry mail of access that was since granted for longer', async () => {
      const mine = await acme.inStore(await app(core.db, 'Ledger'), {
        require_manager_approval: true,
      })
      const given: string[] = []
      for (const access_length of ['30 days', '90 days']) {
        const request = await ask(ada, { app_id: mine, access_length })
        await decide(request, 'approve')
        await acme.settle(request, 'complete')
        await acme.reaches(request, 'COMPLETED')
        given.push(request)
      }
      const soon = sql`now() + interval '2 days'`
      const [first = ''] = given
      await core.db
        .update(accessRequests)
        .set({ expiresAt: soon, wakeAt: soon })
        .where(eq(accessRequests.id, first))
      await sweep()
      const ending = await until('the mail has an outcome', async () => {
        const rows = await core.db.select().from(mails).where(eq(mails.about, first))
        return rows.find(({ kind, outcome }) => kind === 'ends' && outcome !== null)
      })
      expect(ending.outcome).toBe('DROPPED')
    })

    describe('a cancelled request', () => {
      /** Recipient and outcome of the finished decision mails of a request. */
      const decidedMails = (request: string) =>
        until('the mails of the request have an outcome', async () => {
          await sweep()
          const rows = await core.db.select().from(mails).where(eq(mails.about, request))
          const decisionMails = rows.filter(({ kind }) => kind === 'decided')
          const have = decisionMails.every(({ outcome }) => outcome !== null)
          return have && decisionMails.map(({ userId, outcome }) => `${userId} ${outcome}`).sort()
        })
      const cancel = (request: string, token?: string) =>
        core.call(
          'DELETE',
          `/appstore/access_requests/${request}?reason=Not+in+use`,
          token ? { token } : {},
        )
      const sentTo = (...people: Person[]) => people.map(({ id }) => `${id} SENT`).sort()
      let dora: Person
      beforeAll(async () => {
        dora = await managed(await person(core.db, 'dora@acme.example'))
      })

      test('is mailed with the reason to requester and target if another person cancels it', async () => {
        const request = await ask(ada, { target_user_id: dora.id })
        expect((await cancel(request)).status).toBe(204)
        for (const email of ['ada@acme.example', 'dora@acme.example']) {
          const mail = await arrives(email, /^Cancelled: access to Warehouse$/)
          expect(mail.text).toContain('“Not in use”')
        }
        expect(await decidedMails(request)).toEqual(sentTo(ada, dora))
      })

      test('is mailed only to the target if the requester cancels it, and to nobody if they are the same', async () => {
        const request = await ask(ada, { target_user_id: dora.id })
        await cancel(request, ada.token)
        await arrives('dora@acme.example', /^Cancelled: /)
        expect(await decidedMails(request)).toEqual(sentTo(dora))
        const own = await ask()
        await cancel(own, ada.token)
        expect(await decidedMails(own)).toEqual([])
      })

      test('is mailed to the requester if the host cancels it', async () => {
        const config = { request_config: { appstore_visibility: 'VISIBLE' } }
        const body = { app_id: appId, label: 'Readers', ...config }
        const { id } = (await core.call('POST', '/appstore/requestable_permissions', { body })).body
        const request = await ask(ada, { requestable_permission_ids: [id] })
        await core.call('DELETE', `/appstore/requestable_permissions/${id}`)
        const mail = await arrives('ada@acme.example', /^Cancelled: “Readers” in Warehouse$/)
        expect(mail.text).toContain('“The permission was deleted”')
        expect(await decidedMails(request)).toEqual(sentTo(ada))
      })

      test('is one mail if the approval was not sent yet, and none to a requester who cancels it', async () => {
        await choose(ada, { mail: 'DIGEST' })
        const approvedFor = async () => {
          const request = await ask(ada, { target_user_id: dora.id })
          await decide(request, 'approve')
          await arrives('dora@acme.example', /^Approved: /)
          return request
        }
        const [other, own] = [await approvedFor(), await approvedFor()]
        await cancel(other)
        await cancel(own, ada.token)
        await until(
          'dora has both mails',
          async () =>
            (await to('dora@acme.example')).filter(({ subject }) => /^Cancelled/.test(subject))
              .length === 2,
        )
        await makeMailsDue()
        expect((await decidedMails(other)).filter((one) => one.includes(ada.id))).toEqual(
          sentTo(ada),
        )
        const ofOwn = (await decidedMails(own)).filter((one) => one.includes(ada.id))
        expect(ofOwn).toEqual([`${ada.id} DROPPED`])
        expect((await to('ada@acme.example')).map(({ subject }) => subject)).toEqual([
          'Cancelled: access to Warehouse',
        ])
        await choose(ada, { mail: 'AT_ONCE' })
      })
    })

    /** Makes the host look for access that ends soon, and waits until it has. */
    async function sweep(): Promise<void> {
      await core.db.execute(sql`update mail_feeds set swept_at = null`)
      await until('the host has looked for mail to send', async () => {
        const { rows } = await core.db.execute(
          sql`select from mail_feeds where swept_at is not null`,
        )
        return rows.length > 0
      })
    }

    test('mails the members of an approver group, and all admins about a quarantine', async () => {
      await person(core.db, 'admin@acme.example', ['Admin'])
      await person(core.db, 'other-admin@acme.example', ['Admin'])
      const eve = await person(core.db, 'eve@acme.example')
      const team = await group(core.db, 'Approvers', [eve])
      const other = await acme.inStore(await app(core.db, 'Store'), {
        admins: undefined,
        custom_approval_message: undefined,
        approvers: { groups: [{ id: team }], users: [] },
      })
      await ask(ada, { app_id: other })
      await arrives('eve@acme.example', /access to Store/)
      const domainId = await domainOf(core.db)
      const target = { target_type: 'Connector', name: 'acme', id: 'acme' }
      await core.db.transaction((tx) =>
        recordActivity(tx, { domainId, userId: null }, 'CONNECTOR_QUARANTINED', [target], {}),
      )
      for (const email of ['admin@acme.example', 'other-admin@acme.example']) {
        const mail = await arrives(email, /quarantine/)
        expect(mail.text).toContain('keyway release acme')
      }
      const { rows } = await core.db.execute(
        sql`select email from mails join users u on u.id = user_id where kind = 'quarantined' order by 1`,
      )
      const admins = ['admin@acme.example', 'admin@localhost', 'other-admin@acme.example']
      expect(rows.map(({ email }) => email)).toEqual(admins)
      await makeMailsDue()
      const ofEve = (await to('eve@acme.example')).map(({ subject }) => subject)
      expect(ofEve.filter((subject) => subject.includes('quarantine'))).toEqual([])
    })

    test('creates no mail for a transaction that was rolled back', async () => {
      const domainId = await domainOf(core.db)
      const before = await core.db.$count(mails)
      await core.db
        .transaction(async (tx) => {
          const target = { target_type: 'Connector', name: 'undone', id: 'undone' }
          await recordActivity(
            tx,
            { domainId, userId: null },
            'CONNECTOR_QUARANTINED',
            [target],
            {},
          )
          throw new Error('roll back')
        })
        .catch(() => {})
      await sweep()
      expect(await core.db.$count(mails)).toBe(before)
    })

    test('sends a test mail and returns the answer of the server', async () => {
      const body = { email: 'ops@acme.example', language: 'de' }
      const { status, body: tried } = await core.call('POST', '/operator/mail/test', { body })
      expect(status).toBe(200)
      expect(tried).toMatchObject({ ok: true, problem: null })
      expect((await to('ops@acme.example'))[0]?.messageId).toBe(`<${tried.message_id}>`)
      const refused = { email: 'unknown@acme.example' }
      const { body: answer } = await core.call('POST', '/operator/mail/test', { body: refused })
      expect(answer).toMatchObject({ ok: false, problem: expect.stringContaining('no such user') })
      const odd = { email: 'a@b.example, c@d.example' }
      expect((await core.call('POST', '/operator/mail/test', { body: odd })).status).toBe(422)
    })

    test('refuses changes of mail settings by a read-only token and with unknown values', async () => {
      const { body } = await core.call('GET', '/users/current/settings', { token: ada.token })
      expect(body).toEqual({ mail: 'AT_ONCE', language: null })
      const asReader = { token: ada.readOnlyToken, body: { mail: 'NONE' } }
      expect((await core.call('PATCH', '/users/current/settings', asReader)).status).toBe(403)
      const odd = { token: ada.token, body: { mail: 'HOURLY' } }
      expect((await core.call('PATCH', '/users/current/settings', odd)).status).toBe(422)
    })
  })

  test('is not sent to a server whose certificate has another name', async () => {
    const wrong = (await system.restart({ TLS_FAULT: 'name' })) as MailSystem
    system = wrong
    const given = {
      server: `smtp://keyway@127.0.0.1:${wrong.port}`,
      ...{ password: 'mail-secret', from: FROM, publicUrl: ORIGIN, language: 'en' as const },
    }
    const read = mailServerOf(given, () => {})
    const post =
      read && createPost(read, { answerMs: ANSWER_MS }, { ca: readFileSync(wrong.ca, 'utf8') })
    const letter = {
      to: 'a@b.example',
      subject: 's',
      text: 't',
      html: 't',
      messageId: 'm@x.example',
    }
    const sent = await post?.send({ ...letter, language: 'en' })
    expect(sent).toMatchObject({
      ok: false,
      ends: false,
      problem: expect.stringMatching(/IP|altname/i),
    })
  })
})
