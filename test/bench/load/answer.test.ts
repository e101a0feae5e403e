import { expect, test } from 'vitest'
import { createAnswerReader } from './answer.ts'

const answer = (body: string, status = '200 OK') =>
  `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

/** The result for each piece. */
const judged = (...pieces: string[]) => {
  const reader = createAnswerReader()
  return pieces.map((piece) => reader.read(Buffer.from(piece)))
}

test('an answer is a success once it is complete, wherever it is split', () => {
  const whole = answer('{"response":{"name":"Jörg"}}')
  expect(judged(whole, whole)).toEqual([true, true])
  for (let cut = 1; cut < whole.length; cut += 1)
    expect(judged(whole.slice(0, cut), whole.slice(cut), whole)).toEqual([null, true, true])
})

test('an error of the connector interface or another status is no success, wherever it is split', () => {
  for (const whole of [answer('{"is_error":true,"message":"x"}'), answer('{}', '500 No')])
    for (let cut = 1; cut < whole.length; cut += 1)
      expect(judged(whole.slice(0, cut), whole.slice(cut))).toEqual([null, false])
})

test('an answer without a body is complete with its head', () => {
  expect(judged(answer(''))).toEqual([true])
})

test('an answer without a content length is refused', () => {
  expect(() => judged('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')).toThrow(
    'has no content-length',
  )
})
