/** A review of a tag in a real RabbitMQ broker. */
import { startRabbitMq, why } from '../../requests/real/rabbitmq.ts'
import { describeReview } from './paths.ts'

describeReview('a RabbitMQ broker', why, startRabbitMq)
