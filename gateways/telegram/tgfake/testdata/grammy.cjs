// A bot made with grammY, for TestPeerGrammY. API and TOKEN say where the Bot API is; each line of the output is what the
// bot saw of it.
const { Bot, GrammyError, InlineKeyboard } = require("grammy");
const { autoRetry } = require("@grammyjs/auto-retry");

const say = (...words) => console.log(words.join(" "));
const bot = new Bot(process.env.TOKEN, { client: { apiRoot: process.env.API } });
bot.api.config.use(autoRetry());

// refused tells what the Bot API answers to a request that it shall not carry out.
const refused = async (request) => {
  try {
    say("taken:", JSON.stringify(await request));
  } catch (e) {
    if (!(e instanceof GrammyError)) throw e;
    say("refused:", e.error_code, e.description, JSON.stringify(e.parameters));
  }
};

bot.command("start", async (ctx) => {
  say("command:", ctx.match, "from", ctx.from.id, "entities", JSON.stringify(ctx.entities()));
  const sent = await ctx.reply("😀 bold and code", {
    entities: [{ type: "bold", offset: 3, length: 4 }, { type: "code", offset: 12, length: 4 }],
    link_preview_options: { is_disabled: true },
    reply_parameters: { message_id: ctx.msg.message_id },
    reply_markup: new InlineKeyboard().text("Yes", "yes").text("No", "no").row().text("Later", "later"),
  });
  say("sent:", sent.text, JSON.stringify(sent.entities), JSON.stringify(sent.reply_markup.inline_keyboard));
});
bot.on("callback_query:data", async (ctx) => {
  say("pressed:", ctx.callbackQuery.data, "under", ctx.callbackQuery.message.text);
  await ctx.answerCallbackQuery();
  const edited = await ctx.editMessageText("thanks 😀", { entities: [{ type: "italic", offset: 0, length: 9 }] });
  say("edited:", edited.text, JSON.stringify(edited.entities), typeof edited.reply_markup);
  await refused(ctx.editMessageText("thanks 😀", { entities: [{ type: "italic", offset: 0, length: 9 }] }));
  await refused(ctx.answerCallbackQuery());
  await refused(ctx.reply("😀", { entities: [{ type: "bold", offset: 1, length: 1 }] }));
  await refused(ctx.reply("a".repeat(4097)));
  await refused(bot.api.setMyCommands([{ command: "Start", description: "x" }]));
});
bot.on("edited_message:text", (ctx) => say("edit:", ctx.editedMessage.text));
bot.hears("slow", async (ctx) => {
  await ctx.replyWithChatAction("typing");
  say("after a while:", (await ctx.reply("here it is")).text);
});
bot.hears(/^elsewhere (-?\d+)$/, (ctx) => refused(bot.api.sendMessage(Number(ctx.match[1]), "x")));
bot.on("message:text", (ctx) => say("message:", ctx.msg.text));

(async () => {
  await bot.api.setMyCommands([{ command: "start", description: "begins" }]);
  try {
    await bot.start({
      allowed_updates: ["message", "edited_message", "callback_query"],
      onStart: (me) => say("me:", me.id, me.username, me.is_bot),
    });
  } catch (e) {
    if (!(e instanceof GrammyError)) throw e;
    say("stopped:", e.method, e.error_code, e.description);
  }
})();
