"""A bot made with python-telegram-bot 13, for TestPeerPythonTelegramBot. API and TOKEN say where the Bot API is; each line of
the output is what the bot saw of it."""
import logging
import os
import sys
import threading
import warnings

warnings.filterwarnings("ignore")  # Debian's package runs on Debian's urllib3, and says so
from telegram import BotCommand, InlineKeyboardButton, InlineKeyboardMarkup, MessageEntity
from telegram.error import ChatMigrated, Conflict, RetryAfter, TelegramError
from telegram.ext import CallbackQueryHandler, CommandHandler, Filters, MessageHandler, Updater

logging.disable(logging.CRITICAL)


def say(*words):
    print(*words, flush=True)


def entities(message):
    return [(e.type, text) for e, text in message.parse_entities().items()]


def refused(request, *args, **more):
    """Tells what the Bot API answers to a request that it shall not carry out."""
    try:
        say("taken:", request(*args, **more))
    except RetryAfter as e:
        say("refused: retry after", e.retry_after)
    except ChatMigrated as e:
        say("refused: moved to", e.new_chat_id)
    except TelegramError as e:
        say("refused:", type(e).__name__, e.message)


def start(update, context):
    message = update.message
    say("command:", " ".join(context.args), "from", message.from_user.id, "entities", entities(message))
    sent = message.reply_text(
        "😀 bold and code",
        entities=[MessageEntity("bold", 3, 4), MessageEntity("code", 12, 4)],
        reply_markup=InlineKeyboardMarkup([[InlineKeyboardButton("Yes", callback_data="yes"), InlineKeyboardButton("No", callback_data="no")]]),
    )
    say("sent:", sent.text, entities(sent), [b.callback_data for row in sent.reply_markup.inline_keyboard for b in row])


def pressed(update, context):
    query = update.callback_query
    say("pressed:", query.data, "under", query.message.text)
    query.answer()
    thanks = {"text": "thanks 😀", "entities": [MessageEntity("italic", 0, 9)]}
    edited = query.edit_message_text(**thanks)
    say("edited:", edited.text, entities(edited), edited.reply_markup)
    refused(query.edit_message_text, **thanks)
    refused(query.answer)
    refused(query.message.reply_text, "😀", entities=[MessageEntity("bold", 1, 1)])
    refused(query.message.reply_text, "a" * 4097)
    refused(context.bot.set_my_commands, [BotCommand("Start", "x")])


def message(update, context):
    if update.edited_message:
        say("edit:", update.edited_message.text)
    elif update.message.text.startswith("elsewhere "):
        refused(context.bot.send_message, int(update.message.text.split()[1]), "x")
    else:
        say("message:", update.message.text)


def error(update, context):
    say("stopped:" if isinstance(context.error, Conflict) else "error:", type(context.error).__name__, context.error)
    if isinstance(context.error, Conflict):
        threading.Thread(target=updater.stop).start()  # it waits for this handler


updater = Updater(os.environ["TOKEN"], base_url=os.environ["API"] + "/bot")
updater.bot.set_my_commands([BotCommand("start", "begins")])
handle = updater.dispatcher.add_handler
handle(CommandHandler("start", start))
handle(CallbackQueryHandler(pressed))
handle(MessageHandler(Filters.text, message))
updater.dispatcher.add_error_handler(error)
me = updater.bot.get_me()
say("me:", me.id, me.username, me.is_bot)
updater.start_polling(timeout=20, allowed_updates=["message", "edited_message", "callback_query"])
