import { expect, test } from 'vitest'
import { plainWords } from '../../../runtime/core/kernel/plain-words.ts'

test.each([
  [
    '[409][https://a.example/Users] {"schemas":["urn:x"],"detail":"Taken already"}',
    'the system answered 409: Taken already',
  ],
  [
    '[403][https://a.example/x] {"error":{"code":7,"message":"Not yours"}}',
    'the system answered 403: Not yours',
  ],
  [
    '[400][https://a.example/x] {"errors":[{"message":"No such group"}]}',
    'the system answered 400: No such group',
  ],
  [
    '[429][https://a.example/x] {"error":"slow_down"} (try again after 5)',
    'the system answered 429: slow_down (try again after 5)',
  ],
  ['[500][https://a.example/x] {"trace":{"id":1}}', 'the system answered 500'],
  ['[500][https://a.example/x] {"detail":"cut off', 'the system answered 500'],
  ['[502][https://a.example/x]', 'the system answered 502'],
  ['[404][https://a.example/x] Not Found', 'the system answered 404: Not Found'],
  ['{"detail":"Nobody there"}', 'Nobody there'],
  ['{"code":7}', 'the system gave no reason'],
  ['the connector took too long', 'the connector took too long'],
  ['[draft] is no group', '[draft] is no group'],
])('%s is reported as: %s', (message, words) => {
  expect(plainWords(message)).toBe(words)
})
