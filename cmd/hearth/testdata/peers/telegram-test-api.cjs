// The server of telegram-test-api, for TestPeerTelegramTestAPI. It takes a free port and prints it.
const TelegramServer = require("telegram-test-api");

const server = new TelegramServer({ host: "127.0.0.1", storeTimeout: 600 });
server.config.port = 0; // its constructor takes 0 for "none given"
server.start().then(() => console.log(server.server.address().port));
